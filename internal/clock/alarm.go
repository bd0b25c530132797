package clock

import (
	"container/heap"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Alarm wakes many goroutines precisely with one thread. A Sleeper for each of a thousand goroutines would be a thousand
// threads.
//
// The thread wakes goroutines in bursts: all that are due, and then none until a gap has passed. With a gap of 200 µs a
// Waiter is woken up to 200 µs late, and there are at most 5,000 bursts per second, however many Waiters there are. All
// times are those of Now.
type Alarm struct {
	gap   func() time.Duration // between two bursts, at least; asked at each burst
	bell  atomic.Uint32        // changes when the thread must look at the queue again; it sleeps on this word (a futex on Linux)
	ended sync.WaitGroup

	mu        sync.Mutex
	queue     waiters
	wakesAt   int64 // when the thread will wake by itself; 0 before it has looked at the queue, which it does first of all
	notBefore int64 // when the next burst is allowed: the last one + gap
	closed    bool
}

// Waiter is one goroutine's place in an Alarm. It can stand in for a Sleeper.
type Waiter struct {
	alarm *Alarm
	due   int64
	woken chan struct{} // has room for one signal, so that the thread never waits for a goroutine
}

// idleFor is how long the thread of an Alarm sleeps if no goroutine waits.
const idleFor = 50 * time.Millisecond

// NewAlarm starts the thread of an Alarm, which calls gap at each burst for the time until the next one; gap must not block. The caller
// closes the Alarm.
func NewAlarm(gap func() time.Duration) *Alarm {
	a := &Alarm{gap: gap}
	a.ended.Go(a.run)
	return a
}

// NewWaiter returns a place for the calling goroutine.
func (a *Alarm) NewWaiter() *Waiter { return &Waiter{alarm: a, woken: make(chan struct{}, 1)} }

// SleepUntil blocks until Now is at least t, and mostly until less than a gap later. If t has passed, it returns at once.
func (w *Waiter) SleepUntil(t int64) {
	if Now() >= t {
		return
	}
	w.due = t
	w.alarm.enqueue(w)
	<-w.woken
}

// Close does nothing: a Waiter holds nothing that must be given back, but a Sleeper does.
func (w *Waiter) Close() {}

// enqueue enters w into the queue. It rings if the thread would sleep for too long.
func (a *Alarm) enqueue(w *Waiter) {
	a.mu.Lock()
	heap.Push(&a.queue, w)
	wakeAt := max(w.due, a.notBefore)
	sooner := wakeAt < a.wakesAt
	if sooner {
		a.wakesAt = wakeAt
	}
	a.mu.Unlock()
	if sooner {
		a.ring() // without the lock, which the thread takes as soon as it wakes
	}
}

// ring has the thread look at the queue.
func (a *Alarm) ring() {
	a.bell.Add(1)
	wake(&a.bell)
}

// Close ends the thread. No goroutine may be waiting any more.
func (a *Alarm) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.ring()
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

// wakeDue wakes all that are due, if a burst is allowed. It returns until when the thread may sleep, and the value of bell at
// that moment: if bell changes before the thread sleeps, the thread does not fall asleep.
func (a *Alarm) wakeDue() (until int64, bell uint32, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := Now()
	if now >= a.notBefore {
		for len(a.queue) > 0 && a.queue[0].due <= now {
			first := heap.Pop(&a.queue).(*Waiter)
			first.woken <- struct{}{}
			a.notBefore = now + int64(a.gap())
		}
	}
	a.wakesAt = now + int64(idleFor)
	if len(a.queue) > 0 {
		a.wakesAt = max(a.queue[0].due, a.notBefore)
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
	*q = slices.Delete(*q, last, last+1) // clears the slot
	return w
}
