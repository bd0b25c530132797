package clock

import (
	"math/rand/v2"
	"sync"
	"time"
)

// WatchEvery is the mean time between two wake-ups of a Watch. They cost about one per cent of a core. Each time is drawn from
// half to one and a half times as much: at equal times, a Watch would miss a process that stands still for 4 ms in every 20 ms,
// since it begins to count when a standstill has ended, and would be due again just after the next one.
//
// A Watch sees only the part of a standstill that comes after the wake-up that was due. If it is due at 5 ms and the
// process stands still from 1 ms to 11 ms, it wakes 6 ms late and counts these. So a standstill of 12.5 ms or more is always
// counted: 7.5 ms, the longest time between two wake-ups, and the 5 ms of Standstill. One of 5 ms to 12.5 ms may be missed.
const WatchEvery = 5 * time.Millisecond

// Standstill is how late a Watch must wake for the process to count as having stood still. Anything less is what a thread
// may wait for a core on a busy machine.
const Standstill = 5 * time.Millisecond

// Watch is a thread that does nothing but sleep and note how late it woke (the method of Gil Tene's jHiccup). Whatever held
// it up, held up all other threads of the process as well: a stopped process, a garbage collection, too few cores, or
// another virtual machine on the same host.
type Watch struct {
	woke  func(due, at int64)
	ended sync.WaitGroup

	mu     sync.Mutex
	due    int64 // when the thread wakes next, ns on the axis
	stood  int64 // all standstills so far, ns
	closed bool
}

// NewWatch begins to watch. If woke is not nil, the watching thread calls it after each wake-up, with the times at which
// the wake-up was due and came, ns on the axis. woke must not block. The caller closes the Watch.
func NewWatch(woke func(due, at int64)) *Watch {
	if woke == nil {
		woke = func(int64, int64) {}
	}
	w := &Watch{woke: woke, due: Now() + int64(WatchEvery)}
	w.ended.Go(w.run)
	return w
}

func (w *Watch) run() {
	s := NewSleeper()
	defer s.Close()
	for closed := false; !closed; {
		due := w.due // no lock: only this goroutine writes it
		s.SleepUntil(due)
		at := Now()
		closed = w.noteWakeUp(due, at)
		w.woke(due, at)
	}
}

// noteWakeUp adds a standstill if the thread woke late, and sets when it wakes next. It reports whether the Watch was closed.
func (w *Watch) noteWakeUp(due, at int64) (closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at-due >= int64(Standstill) {
		w.stood += at - due
	}
	w.due = at + int64(WatchEvery)/2 + rand.Int64N(int64(WatchEvery))
	return w.closed
}

// Stood returns for how many ns the process has stood still so far. now must be a time that the caller has just read: after
// a standstill other threads may run before the Watch does, and the standstill that it has not noticed yet counts as well.
// Stood may be called from any goroutine. A nil Watch returns 0.
func (w *Watch) Stood(now int64) int64 {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if late := now - w.due; late >= int64(Standstill) {
		return w.stood + late
	}
	return w.stood
}

// Close ends the Watch. It blocks until the thread is gone, which takes one wake-up at most.
func (w *Watch) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.ended.Wait()
}

// Timer measures how long this process has waited, without the time in which it stood still: a time limit for another process
// must not run meanwhile. A Timer belongs to one goroutine.
type Timer struct {
	watch *Watch
	began int64 // ns on the axis
	stood int64 // what the Watch had counted when the Timer began, ns
}

// NewTimer returns a Timer that begins now. If the Watch is nil, standstills count as well.
func NewTimer(w *Watch) *Timer {
	t := &Timer{watch: w}
	t.Reset()
	return t
}

// Reset begins again.
func (t *Timer) Reset() {
	t.began = Now()
	t.stood = t.watch.Stood(t.began)
}

// Awake returns how much time has passed since the beginning, without standstills.
func (t *Timer) Awake() time.Duration {
	now := Now()
	stoodSince := t.watch.Stood(now) - t.stood
	return time.Duration(max(0, now-t.began-stoodSince))
}
