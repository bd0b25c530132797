package clock

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Sleeper wakes its goroutine precisely: the runtime's own sleep is half a millisecond late at the median on a small
// machine, an absolute clock_nanosleep on a thread without timer slack about 30 µs. It belongs to the goroutine that
// made it, and holds that goroutine's thread until Close.
type Sleeper struct {
	slack int // ns, what the thread had before
	until unix.Timespec
}

// NewSleeper locks the calling goroutine to its thread and takes the thread's timer slack away. Where the kernel
// refuses that, sleeps are up to 50 µs later.
func NewSleeper() *Sleeper {
	runtime.LockOSThread()
	s := &Sleeper{}
	if was, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		s.slack = was
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	return s
}

// SleepUntil returns at t on the axis of Now, or at once if t has passed; never earlier. Nothing wakes it: a caller
// that must notice a cancelled context sleeps in slices, SleepUntil(min(t, Now()+100 ms)), and looks in between.
func (s *Sleeper) SleepUntil(t int64) {
	s.until = unix.NsecToTimespec(t)
	for Now() < t {
		switch err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &s.until, nil); err {
		case nil:
			// Now is calibrated to about 100 ns, so it may still say "not yet" for that long: the loop spins.
		case unix.EINTR: // a signal, such as the runtime's own preemption
		default: // forbidden, as under some seccomp profiles
			time.Sleep(time.Duration(t - Now()))
		}
	}
}

// Close gives the thread its slack and its freedom back.
func (s *Sleeper) Close() {
	if s.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(s.slack), 0, 0, 0)
	}
	runtime.UnlockOSThread()
}
