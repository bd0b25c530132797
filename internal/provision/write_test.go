package provision

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writable(t *testing.T) *Node {
	t.Helper()
	user, lock, err := (&Host{Dir: t.TempDir()}).takeUser()
	ok(t, err)
	t.Cleanup(func() { lock.Close() })
	n := &Node{ID: 1, Dir: filepath.Join(t.TempDir(), "node"), Cluster: &Cluster{user: user}}
	ok(t, n.make())
	return n
}

func TestWhatANodeIsToldIsItsUsersAlone(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	n := writable(t)
	ok(t, n.Write("etc/deep/server.conf", []byte("password = s3cret")))
	ok(t, n.Write("etc/deep/server.conf", []byte("password = other")))
	for name, want := range map[string]os.FileMode{
		"etc": os.ModeDir | 0o700, "etc/deep": os.ModeDir | 0o700, "etc/deep/server.conf": 0o600,
	} {
		info, err := os.Lstat(filepath.Join(n.Dir, name))
		ok(t, err)
		if info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), want)
		}
		if uid := int(info.Sys().(*syscall.Stat_t).Uid); n.Cluster.user != 0 && uid != n.Cluster.user {
			t.Errorf("%s belongs to %d", name, uid)
		}
	}
	text, err := os.ReadFile(filepath.Join(n.Dir, "etc/deep/server.conf"))
	ok(t, err)
	if string(text) != "password = other" {
		t.Errorf("%q was written", text)
	}
	left, _ := os.ReadDir(filepath.Join(n.Dir, "etc/deep"))
	if len(left) != 1 {
		t.Errorf("%d files are left, want one", len(left))
	}
}

// The broker owns its directory and may put links into it while we write.
func TestNothingOutsideANodesDirectoryIsWrittenOrGivenAway(t *testing.T) {
	n := writable(t)
	outside := t.TempDir()
	victim := filepath.Join(outside, "shadow")
	ok(t, os.WriteFile(victim, []byte("root"), 0o600))
	ok(t, os.Symlink(victim, filepath.Join(n.Dir, "server.conf")))
	ok(t, os.Symlink(outside, filepath.Join(n.Dir, "etc")))
	ok(t, n.Write("server.conf", []byte("ours")))
	if err := n.Write("etc/server.conf", []byte("ours")); err == nil {
		t.Error("a file was written through a link out of the directory")
	}
	if err := n.Write("../escaped", []byte("ours")); err == nil {
		t.Error("a file was written beside the directory")
	}
	text, err := os.ReadFile(victim)
	ok(t, err)
	info, err := os.Lstat(victim)
	ok(t, err)
	if string(text) != "root" || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		t.Errorf("the file behind the link holds %q and belongs to %d", text, info.Sys().(*syscall.Stat_t).Uid)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("%d files lie outside, want one", len(entries))
	}
}
