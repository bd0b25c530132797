//go:build !portable

package clock

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sleeper wakes its goroutine precisely. time.Sleep is half a millisecond late at the median on a small machine; a Sleeper is
// about 30 µs late, because it uses clock_nanosleep with an absolute time and without timer slack, the time by which the
// kernel may delay a wake-up to wake several threads at once. It belongs to the goroutine that made it.
//
// A goroutine needs a P (one of GOMAXPROCS processors) to run. While an ordinary system call blocks, the runtime's monitor
// thread gives the P to other goroutines. At 1,000 sleeps per second that is a quarter to a third of what pacing costs. A raw
// system call keeps its P. So the first few Sleepers each add a P to the process and make raw calls. Further ones make
// ordinary calls on a locked thread, because hundreds of sleeping Ps would cost more than they save.
type Sleeper struct {
	ownsP bool
	slack int // timer slack that the locked thread had before, ns; 0 if it is unknown or ownsP is set
	until unix.Timespec
}

// maxOwners is how many Sleepers may have a P of their own: one for a Watch, four for producers.
const maxOwners = 5

// owners counts the Sleepers that have a P of their own.
var owners struct {
	sync.Mutex
	n int
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

// newLockedSleeper returns a Sleeper with a thread but no P of its own: after each sleep it waits for a P, like every other
// goroutine.
func newLockedSleeper() *Sleeper {
	s := &Sleeper{}
	runtime.LockOSThread()
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		s.slack = slack
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, noSlack, 0, 0, 0) // if it fails, sleeps are less precise
	}
	return s
}

// addP adds a P for a Sleeper. It returns false if maxOwners have one.
func addP() bool {
	owners.Lock()
	defer owners.Unlock()
	if owners.n == maxOwners {
		return false
	}
	owners.n++
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return true
}

// SetThreads limits how many threads run Go code at once (GOMAXPROCS) to n, beside those that Sleepers keep, and returns what the
// limit was. If n is 0 it changes nothing. Set GOMAXPROCS by it alone: a Sleeper that ended later took away a P that it had not been
// counted with. Without one, nobody waits for the network but the runtime's monitor, which looks every 10 ms.
func SetThreads(n int) (before int) {
	owners.Lock()
	defer owners.Unlock()
	before = runtime.GOMAXPROCS(0) - owners.n
	if n > 0 {
		runtime.GOMAXPROCS(n + owners.n)
	}
	return before
}

func removeP() {
	owners.Lock()
	defer owners.Unlock()
	owners.n--
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - 1)
}

// SleepUntil returns at t on the axis of Now, never earlier. If t has passed, it returns at once. Nothing wakes it: a caller
// that must notice a cancelled context sleeps in slices, SleepUntil(min(t, Now()+100 ms)), and looks in between.
func (s *Sleeper) SleepUntil(t int64) {
	if s.ownsP && Now() < t {
		prepareRawSleep()
	}
	s.until = unix.NsecToTimespec(t)
	for Now() < t {
		switch err := s.sleep(); err {
		case 0: // Now is calibrated to about 100 ns, so for that long it may still be before t: the loop spins
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

// sleep makes the system call: a raw one if the Sleeper has a P of its own. The two calls share no code, because the address
// of s.until stays valid only if it is converted in the call itself.
func (s *Sleeper) sleep() unix.Errno {
	if s.ownsP {
		_, _, err := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
			uintptr(unsafe.Pointer(&s.until)), 0, 0, 0)
		return err
	}
	_, _, err := unix.Syscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&s.until)), 0, 0, 0)
	return err
}

// Close gives back what NewSleeper took: the P, or the locked thread and its timer slack.
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
