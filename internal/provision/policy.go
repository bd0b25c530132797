package provision

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/brokermark/brokermark/internal/bounded"
)

// policy is how packages are kept from starting their broker as a system service on the usual port: dpkg's scripts ask
// the file whether they may. It forbids while somebody holds the lock and allows as soon as nobody does, so that what a
// killed tool leaves behind hinders nobody.
type policy struct{ file, lock string }

// machinePolicy is where Debian looks; only root can make links in /run.
var machinePolicy = policy{file: "/usr/sbin/policy-rc.d", lock: "/run/brokermark-installs.lock"}

// script is the policy's text, by which it is told from the machine's own.
func (p policy) script() []byte {
	return []byte(`#!/bin/sh
# Made by brokermark while it installs packages, so that they start no services.
flock --timeout 1 --exclusive ` + p.lock + ` true && exit 0
exit 101
`)
}

// guard is a tool's share in the policy.
type guard struct {
	policy policy
	lock   *os.File // nil: services can't be forbidden here
}

// forbid returns with no service allowed to start, unless the machine has a policy of its own, which is left alone.
func (p policy) forbid() *guard {
	f, err := os.OpenFile(p.lock, os.O_CREATE|os.O_RDONLY|syscall.O_NOFOLLOW, privateFile)
	if err != nil {
		return &guard{policy: p}
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); err != nil {
		f.Close()
		return &guard{policy: p}
	}
	// By a link, which is made with all of its text or not at all, and never over another file.
	temp, err := os.CreateTemp(filepath.Dir(p.file), ".brokermark-policy-")
	if err != nil {
		return &guard{policy: p, lock: f}
	}
	defer os.Remove(temp.Name())
	_, errW := temp.Write(p.script())
	if errors.Join(errW, temp.Chmod(0o755), temp.Close()) == nil {
		_ = os.Link(temp.Name(), p.file)
	}
	return &guard{policy: p, lock: f}
}

// allow ends this tool's share; the last one takes the policy away.
func (g *guard) allow() {
	if g.lock != nil {
		g.lock.Close()
	}
	g.policy.restore()
}

func (g *guard) locks() []*os.File {
	if g.lock == nil {
		return nil
	}
	return []*os.File{g.lock}
}

// restore takes away a policy that we made and nobody holds any more, of a tool that was killed, too.
func (p policy) restore() {
	f, err := os.OpenFile(p.lock, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return
	}
	// Whoever forbids next waits for this lock and makes the file anew.
	if text, err := bounded.File(p.file, 4<<10); err == nil && bytes.Equal(text, p.script()) {
		_ = os.Remove(p.file)
	}
	// What forbid was killed over.
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(p.file), ".brokermark-policy-*"))
	for _, temp := range old {
		if text, err := bounded.File(temp, 4<<10); err == nil && (len(text) == 0 || bytes.Equal(text, p.script())) {
			_ = os.Remove(temp)
		}
	}
}
