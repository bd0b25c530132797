package provision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// A start that fails says why in one kind of error, and leaves neither a process nor a file.
func TestFailedStartsSayWhyAndLeaveNothing(t *testing.T) {
	occupied, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer occupied.Close()
	taken := occupied.Addr().(*net.TCPAddr).Port
	kind := func(target any) func(error) bool {
		return func(err error) bool { return errors.As(err, target) }
	}
	for _, c := range []struct {
		name string
		o    Options
		is   func(error) bool
		want []string
	}{
		{"exits", Options{Server: map[string]any{"exit": "fatal: bad magic"}}, kind(new(*ErrDied)), []string{"testbroker node 1 exited with code 3", "fatal: bad magic"}},
		{"never ready", Options{Server: map[string]any{"mute": true}, Deadline: time.Second}, kind(new(*ErrNotReady)), []string{"not ready after", "connection refused", "saying nothing"}},
		{"one of three exits", Options{Nodes: 3, Server: map[string]any{"exit": "no quorum"}}, kind(new(*ErrDied)), []string{"no quorum"}},
		{"wanted port in use", Options{Ports: map[string]int{"client": taken}}, kind(new(*ErrPortInUse)), []string{fmt.Sprintf("port %d (client) is in use", taken)}},
		{"bind fails twice", Options{Server: map[string]any{"addr": occupied.Addr().String()}}, kind(new(*ErrPortInUse)), []string{"in use"}},
		{"no such port", Options{Ports: map[string]int{"clinet": 1}}, kind(new(*ErrRefused)), []string{`no port is named "clinet"`, "client, other"}},
		{"unknown setting", Options{Server: map[string]any{"unknown": 1}}, kind(new(*ErrSetting)), []string{`server setting "unknown": not known`}},
		{"too many nodes", Options{Nodes: 4}, kind(new(*ErrRefused)), []string{"4 nodes", "at most 3"}},
		{"mutual TLS", Options{Mutual: true}, kind(new(*ErrRefused)), []string{"mutual TLS was asked for"}},
		{"a login", Options{Login: &Login{"u", "p"}}, kind(new(*ErrRefused)), []string{"a login was asked for"}},
		{"unknown version", Options{Version: "9"}, kind(new(*ErrRefused)), []string{`no version "9"; obtainable: 1`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			c.o.Broker = "testbroker"
			in, err := h.Start(t.Context(), c.o)
			if err == nil {
				_ = in.Stop(context.Background())
				t.Fatal("it started")
			}
			if !c.is(err) {
				t.Errorf("%T: %v", err, err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
			if !isEmpty(t, h.runs()) {
				t.Error("files are left")
			}
			if pids := below(h.runs()); len(pids) > 0 {
				t.Error("processes are left:", pids)
			}
		})
	}
}

func TestStartCancelledLeavesNothing(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := h.Start(ctx, Options{Broker: "testbroker", Server: map[string]any{"mute": true}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if !isEmpty(t, h.runs()) {
		t.Error("files are left")
	}
}

func TestStopEndsEverythingAndRemovesTheDirectory(t *testing.T) {
	h := newHost(t)
	in := start(t, h, Options{Server: map[string]any{"daemon": true}})
	daemon := readPID(t, filepath.Join(in.cluster.Nodes[0].Dir, "daemon.pid"))
	if !alive(daemon) {
		t.Fatal("the daemonised process does not run")
	}
	for range 2 {
		if err := in.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if alive(daemon) {
		t.Error("the daemonised process lives on")
	}
	if !isEmpty(t, h.runs()) {
		t.Error("files are left")
	}
}

func TestKeepLeavesTheDirectory(t *testing.T) {
	h := newHost(t)
	in := start(t, h, Options{Keep: true})
	if err := in.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.sweepRuns()
	if log := in.LogTail(1, 5); len(log) == 0 {
		t.Error("the log is gone")
	}
}

func TestBrokersRunUnprivilegedInAnEnvironmentOfTheirOwn(t *testing.T) {
	t.Setenv("SECRET_OF_THE_USER", "1")
	in := start(t, newHost(t), Options{})
	uid, _, _ := strings.Cut(ask(t, in, 1, "who"), " ")
	if os.Geteuid() == 0 && uid != strconv.Itoa(in.cluster.user) {
		t.Errorf("it runs as uid %s", uid)
	}
	env := ask(t, in, 1, "env")
	want := "EXTRA=1 HOME=" + in.cluster.Nodes[0].Dir + " LANG=C.UTF-8 PATH=" + os.Getenv("PATH") + " TMPDIR=" + in.cluster.Nodes[0].Temp()
	if env != want {
		t.Errorf("environment %q, want %q", env, want)
	}
}

func TestRunAsksAsTheBrokersUser(t *testing.T) {
	in := start(t, newHost(t), Options{})
	n := in.cluster.Nodes[0]
	got, err := n.Run(t.Context(), Command{Path: "sh", Args: []string{"-c", "id -u; echo $HOME"}})
	want := n.Dir + "\n"
	if err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if os.Geteuid() == 0 && !strings.HasPrefix(got, strconv.Itoa(in.cluster.user)+"\n") {
		t.Errorf("it ran as %q", got)
	}
	_, err = n.Run(t.Context(), Command{Path: "sh", Args: []string{"-c", "echo no such topic; exit 9"}})
	if err == nil || !strings.Contains(err.Error(), "sh exited with code 9") || !strings.Contains(err.Error(), "no such topic") {
		t.Error(err)
	}
	var missing *ErrMissing
	if _, err = n.Run(t.Context(), Command{Path: "no-such-command"}); !errors.As(err, &missing) {
		t.Error(err)
	}
	brief, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err = n.Run(brief, Command{Path: "sleep", Args: []string{"1000"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestInstancesStartedAtOnceGetDifferentPorts(t *testing.T) {
	h, other := newHost(t), newHost(t)
	seen := map[string]bool{}
	var group errgroup.Group
	instances := make([]*Instance, 4)
	for i := range instances {
		host := h
		if i%2 == 1 {
			host = other
		}
		group.Go(func() (err error) {
			instances[i], err = host.Start(t.Context(), Options{Broker: "testbroker", Nodes: 2})
			return err
		})
	}
	err := group.Wait()
	for _, in := range instances {
		if in == nil {
			continue
		}
		defer func() { _ = in.Stop(context.Background()) }()
		for _, a := range append(in.Addresses(), in.Endpoints()["management"], in.Endpoints()["management-2"]) {
			if seen[a] || a == "" {
				t.Errorf("address %q is given twice", a)
			}
			seen[a] = true
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTLSInstancesAreReachedWithTheirOwnCertificatesOnly(t *testing.T) {
	h := newHost(t)
	in, stranger := start(t, h, Options{TLS: true}), start(t, h, Options{TLS: true})
	if got := ask(t, in, 1, "id"); got != in.ID() {
		t.Errorf("answer %q", got)
	}
	if _, err := askTLS(t.Context(), in.Addresses()[0], stranger.ClientTLS(), "id"); err == nil {
		t.Error("a certificate of another authority was trusted")
	}
}

func TestNewHostRefusesWhatCannotWork(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewHost(filepath.Join(file, "x"), nil); err == nil || !strings.Contains(err.Error(), homeVariable) {
		t.Error(err)
	}
	if os.Geteuid() == 0 { // t.TempDir is closed to others
		if _, err := NewHost(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "users of their own, who can't enter") {
			t.Error(err)
		}
	}
}

func TestFullDiskIsRefusedWithItsFigures(t *testing.T) {
	h := &Host{Dir: "/proc"} // a file system that never has room
	err := h.checkDisk()
	var full *ErrNoDisk
	if !errors.As(err, &full) || err.Error() != "not enough disk below /proc: 0B free, at least 512MiB needed" {
		t.Error(err)
	}
}

func TestASettingThatCouldWriteAnotherIsRefusedWhateverTheFormat(t *testing.T) {
	h := newHost(t)
	for _, server := range []map[string]any{
		{"a": "1\nport 2"},
		{"a": "1\r"},
		{"a": "1\x00"},
		{"a": "1\u0085b"},
		{"a": "1\u2028b"},
		{"a\nb": 1},
		{"a=b": 1},
		{"a b": 1},
		{"a: 1, b": 1},
		{"a{": 1},
		{"#a": 1},
		{"a;b": 1},
		{"outer": map[string]any{"a": "1\n2"}},
		{"list": []any{"1", "2\n3"}},
	} {
		_, err := h.Start(t.Context(), Options{Broker: "testbroker", Server: server})
		var refused *ErrSetting
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "must be one line") {
			t.Errorf("%q: %v", server, err)
		}
	}
	if !isEmpty(t, h.runs()) {
		t.Error("something was left")
	}
}

func TestADirectoryThatOthersMayWriteToIsRefused(t *testing.T) {
	dir := filepath.Join(newHost(t).Dir, "below")
	ok(t, errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o777)))
	for where, home := range map[string]string{"itself": dir, "above": filepath.Join(dir, "home")} {
		if _, err := NewHost(home, nil); err == nil || !strings.Contains(err.Error(), "everybody may write to "+dir) {
			t.Errorf("writable by everybody, %s: %v", where, err)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	ok(t, os.Chmod(dir, 0o775))
	ok(t, os.Chown(dir, 0, 12345))
	if _, err := NewHost(dir, nil); err == nil || !strings.Contains(err.Error(), "a group may write to "+dir) {
		t.Errorf("writable by a group: %v", err)
	}
	public := filepath.Join(dir, "tmp") // in which others can't replace what isn't theirs
	ok(t, errors.Join(os.Mkdir(public, 0o777), os.Chmod(public, 0o777|os.ModeSticky), os.Chmod(dir, 0o755)))
	h, err := NewHost(filepath.Join(public, "home"), nil)
	ok(t, err)
	link := filepath.Join(public, "link")
	ok(t, os.Symlink(h.Dir, link))
	if linked, err := NewHost(link, nil); err != nil || linked.Dir != h.Dir {
		t.Errorf("by a link: %v, %v", linked, err)
	}
	if _, err := NewHost(public, nil); err == nil {
		t.Error("a directory such as /tmp was taken itself")
	}
	precious, theirs := t.TempDir(), filepath.Join(public, "theirs")
	ok(t, errors.Join(os.Symlink(precious, theirs), os.Lchown(theirs, 12345, 12345)))
	for where, home := range map[string]string{"itself": theirs, "above": filepath.Join(theirs, "home")} {
		if _, err := NewHost(home, nil); err == nil || !strings.Contains(err.Error(), theirs+" is a link that another user made") || !isEmpty(t, precious) {
			t.Errorf("by a link of another user, %s: %v", where, err)
		}
	}
	ok(t, os.Chmod(dir, 0o755))
	ok(t, os.Chown(dir, 12345, 12345))
	for where, home := range map[string]string{"itself": dir, "above": filepath.Join(dir, "home")} {
		if _, err := NewHost(home, nil); err == nil || !strings.Contains(err.Error(), dir+" belongs to another user") {
			t.Errorf("another user's, %s: %v", where, err)
		}
	}
}

func TestWithoutAHomeTheDirectoryIsTheUsersOwn(t *testing.T) {
	for _, name := range []string{homeVariable, "HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	if dir := DefaultDir(); !filepath.IsAbs(dir) || dir == filepath.Join(os.TempDir(), "brokermark") {
		t.Errorf("the work directory is %q", dir)
	}
}
