//go:build !portable

package provision

import (
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// self remains valid if the executable is replaced or removed while we run.
const self = "/proc/self/exe"

// adoptsOrphans reports whether every process of a broker stays in its supervisor's tree.
const adoptsOrphans = true

// volatileDir belongs to root, is the same for all programs, and is empty after a start of the machine.
const volatileDir = "/run"

// gainNothing prevents this thread and its children from gaining rights by running a program (setuid and the like).
func gainNothing() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// adoptOrphans makes this process the parent of every descendant whose parent ends.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// diesWithCaller makes the kernel kill the process when the thread that started it ends.
func diesWithCaller() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// dieWith makes the kernel kill this process when parent ends.
func dieWith(parent int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getppid() != parent {
		return errOrphaned
	}
	return nil
}

// takePort reserves the port by a name in the kernel's abstract socket space; nil: it is already reserved.
func takePort(port int) *os.File {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@brokermark-port-" + strconv.Itoa(port), Net: "unix"})
	if err != nil {
		return nil
	}
	defer l.Close()
	f, err := l.File()
	if err != nil {
		return nil
	}
	return f
}

// AllowedCores returns on how many cores the processes may run together, by their affinity; 0 if not known.
func AllowedCores(pids []int) int {
	var all unix.CPUSet
	for _, pid := range pids {
		var its unix.CPUSet
		if unix.SchedGetaffinity(pid, &its) != nil {
			continue
		}
		for i := range all {
			all[i] |= its[i]
		}
	}
	return all.Count()
}
