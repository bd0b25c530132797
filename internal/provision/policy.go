package provision

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/brokermark/brokermark/internal/bounded"
)

// policy prevents packages from starting their broker as a system service on the usual port: dpkg's scripts ask file for
// permission. It denies that only while a process holds the lock, so that the policy of a killed tool does no harm.
type policy struct{ file, lock string }

// machinePolicy is Debian's path; only root can create links in /run.
var machinePolicy = policy{file: "/usr/sbin/policy-rc.d", lock: "/run/brokermark-installs.lock"}

// script returns the policy's text, which distinguishes it from the machine's own.
func (p policy) script() []byte {
	return []byte(`#!/bin/sh
# Made by brokermark while it installs packages, so that they start no services.
flock --timeout 1 --exclusive ` + p.lock + ` true && exit 0
exit 101
`)
}

// guard is one tool's share of the policy.
type guard struct {
	policy policy
	lock   *os.File // nil: services can't be prevented from starting here
}

// forbid prevents services from starting, unless the machine has a policy of its own, which stays unchanged.
func (p policy) forbid() *guard {
	lock, err := openLocked(p.lock, os.O_CREATE, syscall.LOCK_SH)
	g := &guard{policy: p, lock: lock}
	if err != nil {
		return g
	}
	// A link is created with its whole text or not at all, and never replaces another file.
	temp, err := os.CreateTemp(filepath.Dir(p.file), ".brokermark-policy-")
	if err != nil {
		return g
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(p.script())
	if errors.Join(err, temp.Chmod(0o755), temp.Close()) == nil {
		_ = os.Link(temp.Name(), p.file)
	}
	return g
}

// allow ends this tool's share; the last one removes the policy.
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

// restore removes a policy of this program that is no longer held, also that of a killed tool.
func (p policy) restore() {
	lock, err := openLocked(p.lock, os.O_RDONLY, exclusiveNow)
	if err != nil {
		return
	}
	defer lock.Close()
	// The next process in forbid waits for this lock and creates the file again.
	if text, err := bounded.File(p.file, 4<<10); err == nil && bytes.Equal(text, p.script()) {
		_ = os.Remove(p.file)
	}
	// Files of a process killed in forbid.
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(p.file), ".brokermark-policy-*"))
	for _, temp := range old {
		if text, err := bounded.File(temp, 4<<10); err == nil && (len(text) == 0 || bytes.Equal(text, p.script())) {
			_ = os.Remove(temp)
		}
	}
}
