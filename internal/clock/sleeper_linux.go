//go:build !portable

package clock

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sleeper wakes its goroutine precisely: the runtime's own sleep is half a millisecond late at the median on a small
// machine, an absolute clock_nanosleep without timer slack about 30 µs. It belongs to the goroutine that made it.
//
// An ordinary system call lends its processor (a P) out whenever it blocks, which keeps the runtime's monitor awake
// and costs a quarter to a third of what pacing costs at 1,000/s. The first few Sleepers therefore bring a P of their
// own along and keep it while they sleep; further ones use ordinary calls on a locked thread, since hundreds of
// sleeping Ps would leave none to the others. Before it keeps a P, a Sleeper lets run whom its goroutine has just
// woken: they would otherwise wait on the sleeping P until another one stole them, some 100 µs.
type Sleeper struct {
	slack int // ns, what a locked thread had before
	own   bool
	until unix.Timespec
}

// owners is how many Sleepers may have a P of their own.
const owners = 5 // a Watch, and four producers

var own struct {
	sync.Mutex
	n int
}

// NewSleeper makes a Sleeper for the calling goroutine. Where the kernel refuses to take the timer slack away, sleeps
// are up to 50 µs later.
func NewSleeper() *Sleeper {
	if claim() {
		return &Sleeper{own: true}
	}
	return newLockedSleeper()
}

// newLockedSleeper makes a Sleeper with a thread but no P of its own: after each sleep it waits for a P like every
// other goroutine.
func newLockedSleeper() *Sleeper {
	s := &Sleeper{}
	runtime.LockOSThread()
	if was, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		s.slack = was
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	return s
}

func claim() bool {
	own.Lock()
	defer own.Unlock()
	if own.n == owners {
		return false
	}
	own.n++
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return true
}

// SleepUntil returns at t on the axis of Now, or at once if t has passed; never earlier. Nothing wakes it: a caller
// that must notice a cancelled context sleeps in slices, SleepUntil(min(t, Now()+100 ms)), and looks in between.
func (s *Sleeper) SleepUntil(t int64) {
	if s.own && Now() < t {
		s.yield()
	}
	s.until = unix.NsecToTimespec(t)
	for Now() < t {
		switch err := s.sleep(); err {
		case 0:
			// Now is calibrated to about 100 ns, so it may still say "not yet" for that long: the loop spins.
		case unix.EINTR:
			// A signal, such as the runtime's own: whoever wants to stop the world stops us in the next call.
		default: // forbidden, as under some seccomp profiles
			time.Sleep(time.Duration(t - Now()))
		}
	}
}

// yield lets run whom the goroutine has woken. It takes the timer slack away each time, since an unlocked goroutine may
// find itself on another thread afterwards.
func (s *Sleeper) yield() {
	runtime.Gosched()
	unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0, 0, 0, 0)
}

func (s *Sleeper) sleep() unix.Errno {
	if s.own {
		_, _, e := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
			uintptr(unsafe.Pointer(&s.until)), 0, 0, 0)
		return e
	}
	_, _, e := unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&s.until)), 0, 0, 0)
	return e
}

// Close gives back what NewSleeper took: the P, or the thread's slack and its freedom.
func (s *Sleeper) Close() {
	if s.own {
		own.Lock()
		own.n--
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - 1)
		own.Unlock()
		return
	}
	if s.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(s.slack), 0, 0, 0)
	}
	runtime.UnlockOSThread()
}
