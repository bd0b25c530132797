package clock

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"
)

// Alarm wakes many goroutines precisely with one thread. A Sleeper for each of a thousand goroutines would be a thousand
// threads.
//
// The thread sleeps until its first Waiter is due; a Waiter that comes later and is due earlier wakes it. It wakes
// goroutines once in a gap at most, and then all that are due. So with a gap of 200 µs, a Waiter is woken up to 200 µs late,
// and there are at most 5,000 wake-ups per second, however many Waiters there are.
type Alarm struct {
	gap   int64         // ns
	bell  atomic.Uint32 // changes when the thread must look at the queue again; it sleeps on this word
	ended sync.WaitGroup

	mu       sync.Mutex
	queue    waiters
	wakesAt  int64 // when the thread wakes, ns on the axis
	earliest int64 // before it the thread wakes nobody: a gap after it last did, ns on the axis
	closed   bool
}

// Waiter is one goroutine's place in an Alarm.
type Waiter struct {
	alarm *Alarm
	due   int64         // ns on the axis
	rung  chan struct{} // has room for one signal, so that the thread never waits for a goroutine
}

// idleFor is how long the thread of an Alarm sleeps if nobody waits.
const idleFor = 50 * time.Millisecond

// NewAlarm starts the thread of an Alarm. The caller closes the Alarm.
func NewAlarm(gap time.Duration) *Alarm {
	a := &Alarm{gap: int64(gap)}
	a.ended.Go(a.run)
	return a
}

// Waiter returns a place for the calling goroutine.
func (a *Alarm) Waiter() *Waiter { return &Waiter{alarm: a, rung: make(chan struct{}, 1)} }

// SleepUntil returns at t on the axis, up to a gap later, but never earlier. If t has passed, it returns at once.
func (w *Waiter) SleepUntil(t int64) {
	if Now() >= t {
		return
	}
	w.due = t
	w.alarm.wait(w)
	<-w.rung
}

// wait enters w into the queue, and wakes the thread if it would sleep for too long.
func (a *Alarm) wait(w *Waiter) {
	a.mu.Lock()
	heap.Push(&a.queue, w)
	wakeAt := max(w.due, a.earliest)
	tooLate := wakeAt < a.wakesAt
	if tooLate {
		a.wakesAt = wakeAt
		a.bell.Add(1)
	}
	a.mu.Unlock()
	if tooLate {
		wake(&a.bell)
	}
}

// Close has nothing to give back. It is there because Sleeper has one.
func (w *Waiter) Close() {}

// Close ends the thread. No goroutine may be waiting any more.
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
		until, bell, closed := a.wakeDue()
		if closed {
			return
		}
		s.sleepWhile(&a.bell, bell, until)
	}
}

// wakeDue wakes all that are due. It returns until when the thread sleeps, and the value of bell that this is based on: if
// bell changes before the thread sleeps, it does not fall asleep.
func (a *Alarm) wakeDue() (until int64, bell uint32, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := Now()
	for len(a.queue) > 0 && a.queue[0].due <= now {
		heap.Pop(&a.queue).(*Waiter).rung <- struct{}{}
		a.earliest = now + a.gap
	}
	a.wakesAt = now + int64(idleFor)
	if len(a.queue) > 0 {
		a.wakesAt = max(a.queue[0].due, a.earliest)
	}
	return a.wakesAt, a.bell.Load(), a.closed
}

// waiters is a heap (container/heap); the first is due first.
type waiters []*Waiter

func (q waiters) Len() int           { return len(q) }
func (q waiters) Less(i, j int) bool { return q[i].due < q[j].due }
func (q waiters) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *waiters) Push(w any)        { *q = append(*q, w.(*Waiter)) }

func (q *waiters) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	*q = (*q)[:last]
	return w
}
