//go:build linux && !portable

package clock

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sleeper wakes its goroutine precisely. time.Sleep is half a millisecond late at the median on a small machine; a Sleeper is
// about 30 µs late, because it uses clock_nanosleep with an absolute time and without timer slack, the time by which the
// kernel may delay a wake-up to wake several threads at once. It belongs to the goroutine that made it.
//
// A goroutine needs a P, one of the runtime's GOMAXPROCS processors, to run. An ordinary system call that blocks loses its P
// to other goroutines, and must wait for one when it wakes; at 1,000 sleeps per second that is a quarter to a third of what
// pacing costs. A raw system call keeps its P. So the first few Sleepers each add a P to the process (addP) and make raw
// calls. All others make ordinary calls, on a thread of their own.
type Sleeper struct {
	ownsP bool          // it sleeps in raw calls
	slack int           // if not ownsP: the timer slack that its thread had before, ns; 0 if the kernel doesn't tell
	until unix.Timespec // when the sleep ends; here, not on the stack, because the kernel gets its address
}

// noSlack lets the kernel delay a wake-up by no more than 1 ns. 0 would mean the default, 50 µs.
const noSlack = 1

// NewSleeper returns a Sleeper for the calling goroutine, which must close it. If the kernel does not let the timer slack
// be changed, sleeps end up to 50 µs later.
func NewSleeper() *Sleeper {
	if addP() {
		return &Sleeper{ownsP: true}
	}
	return newLockedSleeper()
}

// newLockedSleeper returns a Sleeper with a thread but no P of its own.
func newLockedSleeper() *Sleeper {
	s := &Sleeper{}
	runtime.LockOSThread()
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		s.slack = slack
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, noSlack, 0, 0, 0) // if it fails, sleeps are less precise
	}
	return s
}

// SleepUntil returns at t on the axis of Now, never earlier. If t has passed, it returns at once. Nothing wakes it: a caller
// that must notice a cancelled context sleeps in slices, SleepUntil(min(t, Now()+100 ms)), and looks in between.
func (s *Sleeper) SleepUntil(t int64) {
	if s.ownsP && Now() < t {
		prepareRawSleep()
	}
	s.until = unix.NsecToTimespec(t)
	for Now() < t {
		switch s.sleep() {
		case nil: // Now is calibrated to about 100 ns, so for that long it may still be before t: the loop spins
		case unix.EINTR: // a signal, such as the runtime's own, which may stop this goroutine in the next call of Now
		default: // forbidden, as under some seccomp profiles
			time.Sleep(time.Duration(t - Now()))
		}
	}
}

// prepareRawSleep must be called before a raw system call that sleeps.
func prepareRawSleep() {
	// Goroutines that this one has just woken are queued on this P. If it kept the P, they would wait for some 100 µs until
	// another P steals them. So let them run first.
	runtime.Gosched()
	// Before each sleep, because a goroutine that is not locked may have moved to another thread.
	unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, noSlack, 0, 0, 0, 0)
}

// sleep sleeps until s.until, or until a signal comes. axis is the kernel's clock that Now reads.
func (s *Sleeper) sleep() error {
	if !s.ownsP {
		return unix.ClockNanosleep(axis, unix.TIMER_ABSTIME, &s.until, nil)
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, axis, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&s.until)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Close gives back the P, or the locked thread with the timer slack that it had. Threads on which a Sleeper with a P slept
// keep noSlack: other goroutines that run there later are woken more precisely, which does no harm.
func (s *Sleeper) Close() {
	if s.ownsP {
		removeP()
		return
	}
	if s.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(s.slack), 0, 0, 0) // if it fails, the thread stays precise
	}
	runtime.UnlockOSThread()
}
