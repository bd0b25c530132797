//go:build !linux || portable

package provision

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

var self = executable()

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// adoptsOrphans reports whether every process of a broker stays in its supervisor's tree. Without Linux's subreaper a process can
// leave it, and would neither be ended nor counted.
const adoptsOrphans = false

func adoptOrphans() error { return nil }

// volatileDir belongs to root, is the same for all programs, and is empty after a start of the machine.
const volatileDir = "/var/run"

// gainNothing does nothing: programs inside this binary don't run others.
func gainNothing() error { return nil }

// diesWithCaller does nothing: a program inside this binary calls dieWith itself.
func diesWithCaller() *syscall.SysProcAttr { return nil }

// dieWith ends this process soon after parent.
func dieWith(parent int) error {
	if os.Getppid() != parent {
		return errOrphaned
	}
	go func() {
		for os.Getppid() == parent {
			time.Sleep(50 * time.Millisecond)
		}
		os.Exit(2)
	}()
	return nil
}

// takePort reserves the port by a lock on a file, which remains as an empty file; nil: it is already reserved.
func takePort(port int) *os.File {
	dir := filepath.Join(os.TempDir(), "brokermark-ports")
	if os.Mkdir(dir, 0o777) == nil {
		_ = os.Chmod(dir, 0o777) // whatever our umask is: other users' tools reserve ports, too
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() { // a link of another user
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDONLY|syscall.O_NOFOLLOW, 0o666)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), exclusiveNow) != nil {
		f.Close()
		return nil
	}
	return f
}

// AllowedCores returns on how many cores the processes may run together; 0: not known.
func AllowedCores([]int) int { return 0 }
