// Package schedule says when to send: pure functions from the index of an arrival to its time. It knows nothing of
// clocks, messages or producers, and never computes an arrival from the one before it, so no error adds up.
//
// For example, a constant rate of 3 messages per second has its arrivals 0, 1, 2, 3 at 0 ns, 333333333 ns, 666666666 ns and
// 1000000000 ns. Two clients share them in turn (Deal): client 0 sends arrivals 0 and 2, client 1 sends 1 and 3. Together they
// send exactly what one client would have sent, at the same nanoseconds.
package schedule

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
	"time"
)

// Schedule is a sequence of arrivals, numbered from 0, at offsets in ns from the start of the load. What the
// constructors return never changes and may be used by any number of goroutines.
type Schedule interface {
	// At returns the offset of arrival i ≥ 0; Never if there is no such arrival. It never falls as i rises.
	At(i int64) int64
	// Count returns the number of arrivals strictly before offset d. (Due also counts those at its offset.)
	Count(d int64) int64
	// Rate returns the nominal rate at offset t, in messages per second; 0 before the start.
	Rate(t int64) float64
}

// Never is the offset of arrivals that don't happen, beyond every real one.
const Never = int64(math.MaxInt64)

// A rate is rounded to whole billionths of a message per second; from there on this package computes exactly. A rate of n
// billionths adds n quanta in each nanosecond, and 10^18 quanta make one message.
const (
	quantaPerMessage = 1_000_000_000_000_000_000
	quantaPerHertz   = 1_000_000_000 // in each nanosecond, at one message per second

	minRate   = 1e-6 // messages per second: one message in twelve days
	maxRate   = 1e9  // messages per second: beyond it, two arrivals would share a nanosecond
	minQuanta = minRate * quantaPerHertz
	maxQuanta = maxRate * quantaPerHertz
)

// checkRate refuses a rate, in messages per second, that is out of bounds. what begins the message of the error.
func checkRate(what string, rate float64) error {
	if !(rate >= minRate && rate <= maxRate) { // the negation catches NaN as well
		return fmt.Errorf("%s: %v messages per second; allowed are %v to %v", what, rate, minRate, maxRate)
	}
	return nil
}

// quantaOf checks a rate, and returns it in quanta per nanosecond.
func quantaOf(what string, rate float64) (uint64, error) {
	if err := checkRate(what, rate); err != nil {
		return 0, err
	}
	return uint64(math.Round(rate * quantaPerHertz)), nil
}

// quantaOrZero is like quantaOf, for a rate that may also be 0.
func quantaOrZero(what string, rate float64) (uint64, error) {
	if rate == 0 {
		return 0, nil
	}
	if checkRate(what, rate) != nil {
		return 0, fmt.Errorf("%s: %v messages per second; allowed are 0 or %v to %v", what, rate, minRate, maxRate)
	}
	return quantaOf(what, rate)
}

// checkSpan refuses lengths of time that are too long or not positive. Its limit keeps all sums of quanta below 2^128. what
// begins the message of the error.
func checkSpan(what string, d time.Duration) error {
	const longest = 10 * 365 * 24 * time.Hour
	if d <= 0 || d > longest {
		return fmt.Errorf("%s: %v; allowed is more than 0, up to ten years", what, d)
	}
	return nil
}

// Sequential returns s for one goroutine that asks for arrivals roughly in order. It gives the same answers; what this
// package makes gives them at constant cost and without allocation.
func Sequential(s Schedule) Schedule {
	if w, ok := s.(interface{ sequential() Schedule }); ok {
		return w.sequential()
	}
	return s
}

// Due returns how many arrivals, from index from on, are due at offset now, one at now itself included; at most limit. It
// asks s for a few arrivals beyond those, so s should be Sequential.
func Due(s Schedule, from, now int64, limit int) int {
	isDue := func(n int) bool { // the n-th arrival, counted from 1
		at := s.At(from + int64(n) - 1)
		return at <= now && at != Never
	}
	// Mostly few arrivals are due, so the steps of the search double until one is not.
	due := 0
	for step := 1; due < limit; step *= 2 {
		probe := min(due+step, limit)
		if !isDue(probe) {
			between := probe - due - 1
			return due + sort.Search(between, func(k int) bool { return !isDue(due + 1 + k) })
		}
		due = probe
	}
	return due
}

// Constant sends at a steady rate, in messages per second. Arrival i is at i/rate, rounded down to the nanosecond and exact
// however large i is.
func Constant(rate float64) (Schedule, error) {
	q, err := quantaOf("constant rate", rate)
	if err != nil {
		return nil, err
	}
	return constant(q), nil
}

// constant is a rate in quanta per nanosecond.
type constant uint64

func (c constant) At(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), quantaPerMessage)
	if hi >= uint64(c) {
		return Never
	}
	at, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(at, uint64(Never)))
}

func (c constant) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(d), uint64(c))
	n, rest := bits.Div64(hi, lo, quantaPerMessage) // c ≤ quantaPerMessage, so n ≤ d
	if rest > 0 {
		n++
	}
	return int64(n)
}

func (c constant) Rate(t int64) float64 {
	if t < 0 {
		return 0
	}
	return float64(c) / quantaPerHertz
}
