//go:build !portable

package clock

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations and flags of futex(2), from <linux/futex.h>. FUTEX_WAIT_BITSET is the wait whose timeout is an absolute time of
// CLOCK_MONOTONIC, which is the axis.
const (
	futexWake       = 1
	futexWaitBitset = 9
	futexPrivate    = 128        // no other process uses the word
	futexAnyBit     = 0xffffffff // FUTEX_BITSET_MATCH_ANY: any wake ends the wait
)

// wake ends one sleepWhile on a word. The caller has changed the word before.
func wake(word *atomic.Uint32) {
	const sleepers = 1
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake|futexPrivate, sleepers, 0, 0, 0)
}

// sleepWhile sleeps until t, but only while word has the given value. It may return early without a reason: callers must
// look again. Its two system calls share no code, because a pointer stays valid only if it is converted in the call itself.
func (s *Sleeper) sleepWhile(word *atomic.Uint32, value uint32, t int64) {
	if Now() >= t {
		return
	}
	s.until = unix.NsecToTimespec(t)
	var err unix.Errno
	if s.ownsP {
		prepareRawSleep()
		_, _, err = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitBitset|futexPrivate, uintptr(value),
			uintptr(unsafe.Pointer(&s.until)), 0, futexAnyBit)
	} else {
		_, _, err = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitBitset|futexPrivate, uintptr(value),
			uintptr(unsafe.Pointer(&s.until)), 0, futexAnyBit)
	}
	if err == unix.ENOSYS || err == unix.EPERM { // forbidden, as under some seccomp profiles: poll instead
		time.Sleep(min(time.Duration(t-Now()), time.Millisecond))
	}
}
