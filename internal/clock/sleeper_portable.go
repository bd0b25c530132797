//go:build !linux || portable

package clock

import (
	"sync/atomic"
	"time"
)

// Sleeper wakes its goroutine as precisely as the runtime's timers do: without Linux's absolute sleeps there is nothing
// better that doesn't spin. What it is late by is the generator's own lag, like any other. It belongs to the goroutine
// that made it.
type Sleeper struct{}

// NewSleeper makes a Sleeper for the calling goroutine.
func NewSleeper() *Sleeper { return &Sleeper{} }

func newLockedSleeper() *Sleeper { return NewSleeper() }

// SleepUntil returns at t on the axis of Now, or at once if t has passed; never earlier. Nothing wakes it: a caller
// that must notice a cancelled context sleeps in slices, SleepUntil(min(t, Now()+100 ms)), and looks in between.
func (s *Sleeper) SleepUntil(t int64) {
	for now := Now(); now < t; now = Now() {
		time.Sleep(time.Duration(t - now))
	}
}

// Close gives back what NewSleeper took: nothing.
func (s *Sleeper) Close() {}

// slice is how long a sleep that may be cut short lasts before it looks whether it was.
const slice = time.Millisecond

// sleepWhile sleeps until t, but not longer than word has the value is; it wakes without a reason, too.
func (s *Sleeper) sleepWhile(word *atomic.Uint32, is uint32, t int64) {
	for now := Now(); now < t && word.Load() == is; now = Now() {
		time.Sleep(min(time.Duration(t-now), slice))
	}
}

// wake ends sleeps on a word that has changed: they look for themselves.
func wake(*atomic.Uint32) {}
