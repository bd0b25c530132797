//go:build !portable

package clock

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of futex(2), for one process. Waiting takes an absolute time of CLOCK_MONOTONIC.
const (
	futexWake = 1 | 128
	futexWait = 9 | 128
	futexAny  = 0xffffffff
)

func wake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}

// sleepWhile sleeps until t, but not longer than word has the value is; sometimes it wakes without a reason.
func (s *Sleeper) sleepWhile(word *atomic.Uint32, is uint32, t int64) {
	if Now() >= t {
		return
	}
	s.until = unix.NsecToTimespec(t)
	call := unix.Syscall6
	if s.own {
		s.yield()
		call = unix.RawSyscall6
	}
	_, _, err := call(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(is), uintptr(unsafe.Pointer(&s.until)), 0, futexAny)
	if err == unix.ENOSYS || err == unix.EPERM { // forbidden, as under some seccomp profiles
		time.Sleep(min(time.Duration(t-Now()), time.Millisecond))
	}
}
