package clock

import (
	"sync"
	"time"
)

// WatchEvery is the distance of a Watch's wake-ups: a standstill of this length or more is always noticed, at about one
// per cent of a core.
const WatchEvery = 5 * time.Millisecond

// Standstill is the lateness of a Watch from which on the process counts as having stood still. Less is what a thread
// waits for a core on a busy machine.
const Standstill = 5 * time.Millisecond

// Watch is a thread that does nothing but sleep and note how late it woke (the method of Gil Tene's jHiccup): whatever
// held it up, a stopped process, a garbage collection, too few cores or another machine on the same host, held
// everything else in this process up as well.
type Watch struct {
	woke  func(due, at int64)
	ended sync.WaitGroup

	mu     sync.Mutex
	due    int64 // when it wakes next
	stood  int64 // ns of standstills so far
	closed bool
}

// NewWatch begins to watch. woke is called on the watching thread for every wake-up that was due at due and came at at;
// it must not block and may be nil. Close the Watch.
func NewWatch(woke func(due, at int64)) *Watch {
	w := &Watch{woke: woke, due: Now() + int64(WatchEvery)}
	w.ended.Go(w.run)
	return w
}

func (w *Watch) run() {
	s := NewSleeper()
	defer s.Close()
	for due := w.due; ; { // nobody else writes w.due
		s.SleepUntil(due)
		at := Now()
		next := at + int64(WatchEvery)
		w.mu.Lock()
		closed := w.closed
		if at-due >= int64(Standstill) {
			w.stood += at - due
		}
		w.due = next
		w.mu.Unlock()
		if w.woke != nil {
			w.woke(due, at)
		}
		if closed {
			return
		}
		due = next
	}
}

// Stood is for how many ns the process has stood still up to now, an instant just read. It includes a standstill that
// the Watch hasn't noticed yet, since other threads may run first after one. Any goroutine; a nil Watch says 0.
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

// Close ends the Watch and blocks until its thread is gone, for at most one wake-up.
func (w *Watch) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.ended.Wait()
}

// Timer tells how long this process has waited awake: a limit on somebody else's time must not run while we stand still
// ourselves. It belongs to one goroutine.
type Timer struct {
	watch *Watch
	from  int64
	stood int64
}

// NewTimer begins now; with a nil Watch it is an ordinary timer.
func NewTimer(w *Watch) *Timer {
	t := &Timer{watch: w}
	t.Reset()
	return t
}

// Reset begins again.
func (t *Timer) Reset() {
	t.from = Now()
	t.stood = t.watch.Stood(t.from)
}

// Awake is how much time has passed since the beginning, standstills left out.
func (t *Timer) Awake() time.Duration {
	now := Now()
	return time.Duration(max(0, now-t.from-(t.watch.Stood(now)-t.stood)))
}
