// Package pgtest starts a real PostgreSQL server for tests and takes it away afterwards. It knows nothing of what is
// stored in it.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Password is that of every user; it must never be printed.
const Password = "gehe1m/%40#?"

// User is the server's superuser.
const User = "team"

// server is the one all tests of this process share.
var server = struct {
	sync.Mutex
	tried     bool
	missing   error // why there is none
	address   string
	stdin     io.Closer
	done      chan error
	databases int
}{}

// Database makes an empty database on a server of this test process and returns its URL, password included. Without
// PostgreSQL on this machine the test is skipped with a sentence. The caller's TestMain calls Stop.
func Database(t testing.TB) string {
	t.Helper()
	server.Lock()
	defer server.Unlock()
	if !server.tried {
		server.tried = true
		server.missing = start()
	}
	if errors.Is(server.missing, exec.ErrNotFound) {
		t.Skipf("no PostgreSQL server on this machine (apt-get install postgresql): %v", server.missing)
	}
	if server.missing != nil {
		t.Fatal(server.missing)
	}
	server.databases++
	name := fmt.Sprint("bm", server.databases)
	Exec(t, URL("postgres"), "CREATE DATABASE "+name)
	return URL(name)
}

// URL names a database of the running server.
func URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(User, Password), Host: server.address, Path: "/" + database}
	return u.String()
}

// Exec runs statements in the database at url.
func Exec(t testing.TB, url string, statements string) {
	t.Helper()
	if err := execute(url, statements); err != nil {
		t.Fatal(err)
	}
}

func execute(url, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, statements)
	return err
}

// Stop ends the server and removes all it wrote; without one it does nothing.
func Stop() {
	server.Lock()
	defer server.Unlock()
	if server.stdin != nil {
		_ = server.stdin.Close()
		<-server.done
		server.stdin = nil
	}
}

// watchdog runs the server until its standard input ends, which it also does when the test process is killed.
const watchdog = `
"$1" -D "$2/data" -p "$3" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$2" -c fsync=off >"$2/log" 2>&1 &
cat >/dev/null
kill -INT $!
wait $!
rm -rf "$2"/* "$2"`

func start() error {
	initdb, err := find("initdb")
	if err != nil {
		return err
	}
	program, err := find("postgres")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("/tmp", "brokermark-pg-") // short: the path of a socket has at most 107 bytes
	if err != nil {
		return err
	}
	identity, err := unprivileged(dir)
	if err != nil {
		return err
	}
	if err := initialize(initdb, dir, identity); err != nil {
		_ = os.RemoveAll(dir)
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	c := exec.Command("/bin/sh", "-c", watchdog, "sh", program, dir, strconv.Itoa(port))
	c.SysProcAttr = &syscall.SysProcAttr{Credential: identity, Setpgid: true} // Ctrl-C is for the test process
	c.Dir = dir
	stdin, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	server.stdin, server.done = stdin, make(chan error, 1)
	go func() { server.done <- c.Wait() }()
	server.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return ready(filepath.Join(dir, "log"))
}

func ready(log string) error {
	var err error
	for range 300 {
		if err = execute(URL("postgres"), "SELECT 1"); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := os.ReadFile(log)
	return fmt.Errorf("PostgreSQL did not become ready: %w\n%s", err, text)
}

func initialize(initdb, dir string, identity *syscall.Credential) error {
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(Password+"\n"), 0o644); err != nil {
		return err
	}
	c := exec.Command(initdb, "-D", filepath.Join(dir, "data"), "-U", User, "-A", "scram-sha-256", "--pwfile", secret,
		"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: identity}
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// find looks where Debian puts the server's programs, too.
func find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program); len(found) > 0 {
		return found[len(found)-1], nil
	}
	return "", err
}

// unprivileged is who runs the server, and gives dir to them: PostgreSQL refuses to run as root.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
