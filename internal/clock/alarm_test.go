package clock

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAnAlarmNeverWakesEarlyAndForgetsNoSleeper(t *testing.T) {
	a := NewAlarm(gapOf(200 * time.Microsecond))
	defer a.Close()
	var all sync.WaitGroup
	var early, woken atomic.Int64
	const waiters, times = 200, 50
	for i := range waiters {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			w := a.NewWaiter()
			defer w.Close()
			for range times {
				until := Now() + rng.Int64N(int64(4*time.Millisecond)) - int64(time.Millisecond)
				w.SleepUntil(until)
				woken.Add(1)
				if Now() < until {
					early.Add(1)
				}
			}
		})
	}
	all.Wait()
	if early.Load() > 0 || woken.Load() != waiters*times {
		t.Errorf("%d of %d were woken, %d of them early", woken.Load(), waiters*times, early.Load())
	}
}

func TestAnAlarmIsWokenForAnEarlierWaiter(t *testing.T) {
	a := NewAlarm(gapOf(200 * time.Microsecond))
	defer a.Close()
	var all sync.WaitGroup
	all.Go(func() { a.NewWaiter().SleepUntil(Now() + int64(400*time.Millisecond)) })
	time.Sleep(20 * time.Millisecond) // the thread sleeps for the other one by now
	began := time.Now()
	a.NewWaiter().SleepUntil(Now() + int64(5*time.Millisecond))
	if took := time.Since(began); took > testkit.Within(200*time.Millisecond) {
		t.Errorf("5 ms became %v: it waited for the later one", took)
	}
	all.Wait()
}

func TestAnAlarmWakesOnceInAGapAtMost(t *testing.T) {
	const gap, times = 2 * time.Millisecond, 200
	a := NewAlarm(gapOf(gap))
	defer a.Close()
	w := a.NewWaiter()
	began := Now()
	for range times {
		w.SleepUntil(Now() + 5000)
	}
	took := time.Duration(Now() - began)
	if took < (times-1)*gap {
		t.Errorf("%d wake-ups took %v; with a gap of %v they take at least %v", times, took, gap, (times-1)*gap)
	}
}

func TestAThousandWaitersAreNoThreads(t *testing.T) {
	a := NewAlarm(gapOf(200 * time.Microsecond))
	defer a.Close()
	before := threads(t)
	var all sync.WaitGroup
	until := Now() + int64(200*time.Millisecond)
	for range 1000 {
		all.Go(func() { a.NewWaiter().SleepUntil(until) })
	}
	time.Sleep(50 * time.Millisecond)
	if more := threads(t) - before; more > 2*runtime.NumCPU()+4 {
		t.Errorf("%d more threads for 1000 waiters", more)
	}
	all.Wait()
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		testkit.Lacks(t, "%v", err)
	}
	return len(tasks)
}

func TestAnAlarmIsPunctual(t *testing.T) {
	a := NewAlarm(gapOf(200 * time.Microsecond))
	defer a.Close()
	var mu sync.Mutex
	var late []int64
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			w := a.NewWaiter()
			for due := Now() + int64(i)*int64(100*time.Microsecond); ; due += int64(10 * time.Millisecond) {
				w.SleepUntil(due)
				at := Now() - due
				mu.Lock()
				late = append(late, at)
				n := len(late)
				mu.Unlock()
				if n >= 5000 {
					return
				}
			}
		})
	}
	all.Wait()
	slices.Sort(late)
	if p50 := time.Duration(late[len(late)/2]); p50 > testkit.Within(2*time.Millisecond) {
		t.Errorf("the median waiter woke %v late", p50)
	}
	t.Logf("late by %v at the median, %v at p99", time.Duration(late[len(late)/2]), time.Duration(late[len(late)*99/100]))
}

func TestSleepingByAnAlarmAllocatesNothing(t *testing.T) {
	a := NewAlarm(gapOf(10 * time.Microsecond))
	defer a.Close()
	w := a.NewWaiter()
	w.SleepUntil(Now() + 1000)
	if got := testing.AllocsPerRun(100, func() { w.SleepUntil(Now() + 20_000) }); got != 0 {
		t.Errorf("%g allocations", got)
	}
}

func gapOf(d time.Duration) func() time.Duration { return func() time.Duration { return d } }
