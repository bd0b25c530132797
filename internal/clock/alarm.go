package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Alarm wakes many goroutines precisely with one thread: a thousand Sleepers would be a thousand threads.
//
// The thread sleeps until the first of its Waiters is due, and is woken when one comes that is due earlier. Waiters that
// are due within a gap of each other are woken together.
type Alarm struct {
	gap   int64
	bell  atomic.Uint32 // rises when the thread must look again
	ended sync.WaitGroup

	mu     sync.Mutex
	queue  []*Waiter // a heap by due
	next   int64     // when the thread wakes
	floor  int64     // and when at the earliest: a gap after it last woke somebody
	closed bool
}

// Waiter is one goroutine's place in an Alarm.
type Waiter struct {
	alarm *Alarm
	due   int64
	rung  chan struct{}
}

// idleFor bounds the sleep of an Alarm that nobody waits for.
const idleFor = 50 * time.Millisecond

// NewAlarm starts a thread that wakes at most once in a gap. Close the Alarm.
func NewAlarm(gap time.Duration) *Alarm {
	a := &Alarm{gap: int64(gap)}
	a.ended.Go(a.run)
	return a
}

// Waiter makes a place for the calling goroutine.
func (a *Alarm) Waiter() *Waiter { return &Waiter{alarm: a, rung: make(chan struct{}, 1)} }

// SleepUntil returns at t on the axis of Now, at most a gap later, or at once if t has passed; never earlier.
func (w *Waiter) SleepUntil(t int64) {
	if Now() >= t {
		return
	}
	a := w.alarm
	a.mu.Lock()
	w.due = t
	a.push(w)
	ring := max(t, a.floor) < a.next
	if ring {
		a.next = max(t, a.floor)
		a.bell.Add(1)
	}
	a.mu.Unlock()
	if ring {
		wake(&a.bell)
	}
	<-w.rung
}

// Close gives the place up, as Sleeper.Close does; there is nothing to give back.
func (w *Waiter) Close() {}

// Close ends the thread. Nobody may be waiting any more.
func (a *Alarm) Close() {
	a.mu.Lock()
	a.closed = true
	a.bell.Add(1)
	a.mu.Unlock()
	wake(&a.bell)
	a.ended.Wait()
}

func (a *Alarm) run() {
	s := NewSleeper()
	defer s.Close()
	for {
		a.mu.Lock()
		now := Now()
		if len(a.queue) > 0 && a.queue[0].due <= now {
			a.floor = now + a.gap
		}
		for len(a.queue) > 0 && a.queue[0].due <= now {
			a.pop().rung <- struct{}{} // has room: its goroutine waits
		}
		a.next = now + int64(idleFor)
		if len(a.queue) > 0 {
			a.next = max(a.queue[0].due, a.floor)
		}
		until, bell, closed := a.next, a.bell.Load(), a.closed
		a.mu.Unlock()
		if closed {
			return
		}
		s.sleepWhile(&a.bell, bell, until)
	}
}

func (a *Alarm) push(w *Waiter) {
	a.queue = append(a.queue, w)
	for i := len(a.queue) - 1; i > 0; {
		parent := (i - 1) / 2
		if a.queue[parent].due <= a.queue[i].due {
			return
		}
		a.queue[parent], a.queue[i] = a.queue[i], a.queue[parent]
		i = parent
	}
}

func (a *Alarm) pop() *Waiter {
	first, last := a.queue[0], len(a.queue)-1
	a.queue[0] = a.queue[last]
	a.queue = a.queue[:last]
	for i := 0; ; {
		least := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < last && a.queue[child].due < a.queue[least].due {
				least = child
			}
		}
		if least == i {
			return first
		}
		a.queue[i], a.queue[least] = a.queue[least], a.queue[i]
		i = least
	}
}
