package provision

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	RegisterProgram("testbroker", testBroker)
	RegisterProgram("testtool", testTool)
	RegisterProgram("testinstaller", testInstaller)
	RegisterProgram("testinherits", func([]string) int {
		out, err := exec.Command("sh", "-c", "if [ -e /dev/fd/3 ]; then echo inherited; fi").CombinedOutput()
		fmt.Print(string(out), err)
		return 0
	})
	Register(testRecipe())
	Main()
	// The race detector lets every process sleep for a second at its exit; supervisors inherit this.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

func TestWhatWasOpenInThisProcessIsNotInThoseItStarts(t *testing.T) {
	secret, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	c := exec.Command(os.Args[0], programArg, "0", strconv.Itoa(os.Getpid()), "testinherits")
	c.ExtraFiles = []*os.File{secret}
	if out, err := c.CombinedOutput(); err != nil || string(out) != "<nil>" {
		t.Errorf("%s, %v", out, err)
	}
}

// behaviour is what a test wants from the server; it travels as server settings.
type behaviour struct {
	ID, Addr, Data string
	Exit           string // print this and exit at once
	Mute           bool   // never listen
	Daemon         bool   // leave a daemonised process behind
	Cert, Key      string
}

// testBroker is a little line server whose misbehaviour can be chosen: what is tested here is how processes are
// kept, not what a broker does.
func testBroker(args []string) int {
	var b behaviour
	if err := json.Unmarshal([]byte(args[0]), &b); err != nil {
		return 2
	}
	fmt.Println("testbroker starts as uid", os.Getuid())
	if b.Daemon {
		script := "setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' >/dev/null 2>&1 &"
		if err := exec.Command("sh", "-c", script).Run(); err != nil {
			fmt.Println("daemon:", err)
			return 2
		}
	}
	if b.Exit != "" {
		fmt.Println(b.Exit)
		return 3
	}
	if b.Mute {
		fmt.Println("saying nothing")
		select {}
	}
	l, err := net.Listen("tcp", b.Addr)
	if err != nil {
		fmt.Println(err)
		return 4
	}
	if b.Cert != "" {
		pair, err := tls.LoadX509KeyPair(b.Cert, b.Key)
		if err != nil {
			fmt.Println(err)
			return 4
		}
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}})
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return 5
		}
		go b.serve(c)
	}
}

func (b behaviour) serve(c net.Conn) {
	defer c.Close()
	word, _ := bufio.NewReader(c).ReadString('\n')
	switch strings.TrimSpace(word) {
	case "id":
		fmt.Fprintln(c, b.ID)
	case "who":
		fmt.Fprintln(c, os.Getuid(), os.Getpid())
	case "env":
		fmt.Fprintln(c, strings.Join(os.Environ(), " "))
	case "write":
		path := filepath.Join(b.Data, "segment")
		err := os.WriteFile(path, make([]byte, 1<<20), 0o600)
		fmt.Fprintln(c, err)
	case "flush": // 4 MiB
		f, err := os.Create(filepath.Join(b.Data, "flushed"))
		if err == nil {
			_, _ = f.Write(make([]byte, 4<<20))
			err = errors.Join(f.Sync(), f.Close())
		}
		fmt.Fprintln(c, err)
	case "stored":
		_, err := os.Stat(filepath.Join(b.Data, "segment"))
		fmt.Fprintln(c, err)
	case "burn": // in a grandchild
		err := exec.Command("sh", "-c", "sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'; true").Run()
		fmt.Fprintln(c, err)
	case "eat": // more memory than a limit allows
		for eaten := [][]byte{}; ; {
			eaten = append(eaten, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "exit":
		fmt.Println("goodbye, cruel world")
		os.Exit(7)
	}
}

func testRecipe() Recipe {
	return Recipe{
		Broker: "testbroker", Versions: []Version{{Name: "1"}}, Ports: []string{"client", "other"}, MaxNodes: 3, TLS: true,
		Configure: func(_ context.Context, n *Node) error {
			for name := range n.Cluster.Settings {
				if name == "unknown" {
					return &ErrSetting{name, "not known"}
				}
			}
			return os.WriteFile(filepath.Join(n.Dir, "conf"), []byte("x"), 0o600)
		},
		Command: func(n *Node) (Command, error) {
			b := behaviour{ID: n.Cluster.ID, Addr: address(n.Ports["client"]), Data: n.Data}
			s := n.Cluster.Settings
			b.Exit, _ = s["exit"].(string)
			b.Mute, _ = s["mute"].(bool)
			b.Daemon, _ = s["daemon"].(bool)
			if a, ok := s["addr"].(string); ok {
				b.Addr = a
			}
			if t := n.Cluster.TLS; t != nil {
				b.Cert, b.Key = t.Cert, t.Key
			}
			arg, err := json.Marshal(b)
			return Command{Program: "testbroker", Args: []string{string(arg)}, Env: []string{"EXTRA=1"}}, err
		},
		Ready: func(ctx context.Context, n *Node) error {
			var config *tls.Config
			if t := n.Cluster.TLS; t != nil {
				config, _ = t.ClientConfig()
			}
			got, err := askTLS(ctx, address(n.Ports["client"]), config, "id")
			if err == nil && got != n.Cluster.ID {
				err = fmt.Errorf("somebody else answers: %q", got)
			}
			return err
		},
		Leader:    func(context.Context, *Cluster) (int, error) { return 2, nil },
		Endpoints: func(n *Node) map[string]string { return map[string]string{"management": address(n.Ports["other"])} },
	}
}

func askTLS(ctx context.Context, addr string, config *tls.Config, word string) (string, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	if config != nil {
		config = config.Clone()
		config.ServerName = "127.0.0.1"
		c = tls.Client(c, config)
	}
	defer c.Close()
	if t, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(t)
	}
	fmt.Fprintln(c, word)
	b, err := io.ReadAll(c)
	return strings.TrimSpace(string(b)), err
}

// ask fails the test where the broker does not answer.
func ask(t *testing.T, in *Instance, node int, word string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got, err := askTLS(ctx, in.Addresses()[node-1], in.ClientTLS(), word)
	if err != nil {
		t.Fatalf("ask node %d %q: %v", node, word, err)
	}
	return got
}

// newHost is in a directory that the user brokers run as can enter, unlike t.TempDir.
func newHost(t *testing.T) *Host {
	t.Helper()
	dir, err := os.MkdirTemp("", "provision-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func start(t *testing.T, h *Host, o Options) *Instance {
	t.Helper()
	o.Broker = "testbroker"
	in, err := h.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in
}

// eventually waits for what another process does in its own time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

func isEmpty(t *testing.T, dir string) bool {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list) == 0
}

func alive(pid int) bool {
	s, err := statOf(pid)
	return err == nil && s.State != "Z" && s.State != "X"
}

func readPID(t *testing.T, path string) int {
	t.Helper()
	var pid int
	eventually(t, "a pid in "+path, func() bool {
		b, _ := os.ReadFile(path)
		n, _ := fmt.Sscan(string(b), &pid)
		return n == 1
	})
	return pid
}
