//go:build !portable

package clock

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/testkit"
)

// taken makes Sleepers until none is left that would get a P of its own.
func taken(t *testing.T) {
	t.Helper()
	for range maxOwners {
		s := NewSleeper()
		t.Cleanup(s.Close)
	}
}

func TestManySleepersLeaveProcessorsToTheOthers(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	var sleeping sync.WaitGroup
	until := Now() + int64(300*time.Millisecond)
	for range 50 {
		sleeping.Go(func() {
			s := NewSleeper()
			defer s.Close()
			s.SleepUntil(until)
		})
	}
	turns := 0
	for Now() < until {
		done := make(chan struct{})
		go close(done) // needs a processor that no sleeper holds
		<-done
		runtime.GC() // stops the world, sleepers included
		turns++
	}
	sleeping.Wait()
	if turns < 2 {
		t.Errorf("the others ran %d times while 50 slept", turns)
	}
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("GOMAXPROCS was %d and is %d", before, after)
	}
}

func TestTheThreadGetsItsSlackBack(t *testing.T) {
	taken(t)
	slack := func() int {
		n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		if err != nil {
			testkit.Lacks(t, "the kernel does not report the timer slack: %v", err)
		}
		return n
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 12345, 0, 0, 0); err != nil {
		testkit.Lacks(t, "the kernel refuses to set the timer slack: %v", err)
	}
	s := NewSleeper()
	if got := slack(); got != 1 {
		t.Errorf("slack is %d ns while sleeping, want 1", got)
	}
	s.Close()
	if got := slack(); got != 12345 {
		t.Errorf("slack is %d ns afterwards, want 12345", got)
	}
}
