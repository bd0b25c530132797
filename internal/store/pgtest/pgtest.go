// Package pgtest starts a real PostgreSQL server for tests and removes it afterwards. It knows nothing of what is stored in it.
package pgtest

import (
	"bytes"
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

	"github.com/brokermark/brokermark/internal/testkit"
)

// Password is the password of every user; it must never be printed.
const Password = "gehe1m/%40#?"

// User is the server's superuser.
const User = "team"

// server is shared by all tests of this process.
var server = struct {
	sync.Mutex
	tried     bool
	failed    error // why it couldn't be started
	address   string
	stdin     io.Closer     // closing it ends the server
	ended     chan struct{} // closed when the server has ended and its files are gone
	output    bytes.Buffer  // stderr; complete when the server has ended
	databases int
}{}

// Database creates an empty database on this process's server and returns its URL, password included. It skips the test, with a
// sentence, on a machine without PostgreSQL. The caller's TestMain calls Stop.
func Database(t testing.TB) string {
	t.Helper()
	testkit.Live(t)
	server.Lock()
	defer server.Unlock()
	if !server.tried {
		server.tried = true
		server.failed = start()
	}
	if errors.Is(server.failed, exec.ErrNotFound) {
		testkit.Lacks(t, "no PostgreSQL server on this machine (apt-get install postgresql): %v", server.failed)
	}
	if server.failed != nil {
		t.Fatal(server.failed)
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

// Stop ends the server and removes its files; it does nothing if there is no server.
func Stop() {
	server.Lock()
	defer server.Unlock()
	if server.stdin != nil {
		_ = server.stdin.Close()
		<-server.ended
		server.stdin = nil
	}
}

// watchdog creates a directory and runs the server in it until standard input ends, which also happens when the test process is
// killed. It removes the directory in any case. A background process of a shell ignores SIGINT until it installs a handler, so a
// server that is still starting needs SIGTERM; a running server would wait for its clients on SIGTERM, but not on SIGINT. When
// the test process is gone, the reader of the shell's messages is gone too, so the shell ignores SIGPIPE.
const watchdog = `
trap '' PIPE
dir=$(mktemp -d "/tmp/brokermark-pg-$3-XXXXXX") || exit # short: the path of a socket has at most 107 bytes
trap 'cat "$dir/log" >&2; rm -rf "$dir"' EXIT
echo "$PGTEST_PASSWORD" >"$dir/secret"
"$1" -D "$dir/data" -U "$PGTEST_USER" -A scram-sha-256 --pwfile "$dir/secret" \
	-E UTF8 --locale=C --no-sync --no-instructions >"$dir/log" 2>&1 || exit
"$2" -D "$dir/data" -p "$4" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$dir" -c fsync=off >>"$dir/log" 2>&1 &
cat >/dev/null
kill -TERM $!
kill -INT $!
wait $!`

func start() error {
	initdb, err := find("initdb")
	if err != nil {
		return err
	}
	program, err := find("postgres")
	if err != nil {
		return err
	}
	identity, err := unprivileged()
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	c := exec.Command("/bin/sh", "-c", watchdog, "sh", initdb, program, strconv.Itoa(os.Getpid()), strconv.Itoa(port))
	c.Env = append(os.Environ(), "PGTEST_USER="+User, "PGTEST_PASSWORD="+Password)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: identity, Setpgid: true} // Ctrl-C is for the test process
	c.Dir = "/tmp"                                                            // which every user may enter
	c.Stderr = &server.output
	if server.stdin, err = c.StdinPipe(); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	server.ended = make(chan struct{})
	go func() {
		_ = c.Wait() // its output says more than its exit code
		close(server.ended)
	}()
	server.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return ready()
}

// ready waits until the server answers.
func ready() error {
	const limit = time.Minute
	for began := time.Now(); time.Since(began) < limit; {
		err := execute(URL("postgres"), "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-server.ended:
			return fmt.Errorf("PostgreSQL ended before it was ready: %w\n%s", err, server.output.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	_ = server.stdin.Close()
	<-server.ended
	return fmt.Errorf("PostgreSQL was not ready after %v\n%s", limit, server.output.String())
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

// unprivileged returns the user that runs the server; nil for our own. PostgreSQL refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
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
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
