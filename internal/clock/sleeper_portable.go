//go:build !linux || portable

package clock

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Sleeper wakes its goroutine as precisely as the runtime's timers do: without Linux's absolute sleeps, only spinning would
// be more precise. How late it wakes counts as the generator's own lag. It belongs to the goroutine that made it.
type Sleeper struct{}

// NewSleeper returns a Sleeper for the calling goroutine, which must close it.
func NewSleeper() *Sleeper { return &Sleeper{} }

func newLockedSleeper() *Sleeper { return NewSleeper() }

// SleepUntil returns at t on the axis of Now, never earlier. If t has passed, it returns at once. Nothing wakes it: a caller
// that must notice a cancelled context sleeps in slices, SleepUntil(min(t, Now()+100 ms)), and looks in between.
func (s *Sleeper) SleepUntil(t int64) {
	for now := Now(); now < t; now = Now() {
		time.Sleep(time.Duration(t - now))
	}
}

// Close does nothing here.
func (s *Sleeper) Close() {}

// SetThreads limits how many threads run Go code at once (GOMAXPROCS) to n, and returns what the limit was. If n is 0 it changes
// nothing.
func SetThreads(n int) (before int) { return runtime.GOMAXPROCS(n) }

// pollEvery is how often sleepWhile looks at its word.
const pollEvery = time.Millisecond

// sleepWhile sleeps until t, but only while word has the given value.
func (s *Sleeper) sleepWhile(word *atomic.Uint32, value uint32, t int64) {
	for now := Now(); now < t && word.Load() == value; now = Now() {
		time.Sleep(min(time.Duration(t-now), pollEvery))
	}
}

// wake does nothing: sleepWhile sees by itself that the word has changed.
func wake(*atomic.Uint32) {}
