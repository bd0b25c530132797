// Package schedule says when to send: pure functions from the index of an arrival to its time. It knows nothing of
// clocks, messages or producers, and never computes an arrival from the one before it.
package schedule

import (
	"fmt"
	"math"
	"time"
)

// Schedule is a sequence of arrivals, numbered from 0, at offsets in ns from the start of the load. What the
// constructors return never changes and may be used by any number of goroutines.
type Schedule interface {
	// At is the offset of arrival i ≥ 0; it never falls as i rises. Never: there is no such arrival.
	At(i int64) int64
	// Count is the number of arrivals strictly before offset d.
	Count(d int64) int64
	// Rate is the nominal rate at offset t, in messages per second.
	Rate(t int64) float64
}

// Never is the offset of arrivals that don't happen, beyond every real one.
const Never = int64(math.MaxInt64)

// Rates are kept as whole billionths of a message per second, so that everything below is exact integer arithmetic:
// in one nanosecond a rate adds so many quanta, and a whole message is made of 10^18 of them.
const (
	perMessage = 1_000_000_000_000_000_000
	perRate    = 1_000_000_000
	minRate    = 1e-6
	maxRate    = 1e9
)

// quanta checks a rate in messages per second. silent allows 0.
func quanta(what string, rate float64, silent bool) (uint64, error) {
	if silent && rate == 0 {
		return 0, nil
	}
	if !(rate >= minRate && rate <= maxRate) { // NaN fails too
		zero := ""
		if silent {
			zero = "0 or "
		}
		return 0, fmt.Errorf("%s: %v messages per second; allowed are %s%v to %v", what, rate, zero, minRate, maxRate)
	}
	return uint64(math.Round(rate * perRate)), nil
}

// span checks a length of time.
func span(what string, d time.Duration) error {
	const longest = 10 * 365 * 24 * time.Hour
	if d <= 0 || d > longest {
		return fmt.Errorf("%s: %v; allowed is more than 0, up to ten years", what, d)
	}
	return nil
}

// Share is what producer k of n sends of s: arrivals k, k+n, k+2n and so on. All shares together are exactly s. It
// panics unless 0 ≤ k < n.
func Share(s Schedule, k, n int) Schedule {
	if k < 0 || k >= n {
		panic(fmt.Sprintf("schedule: share %d of %d", k, n))
	}
	if n == 1 {
		return s
	}
	return share{s, int64(k), int64(n)}
}

type share struct {
	whole Schedule
	k, n  int64
}

func (s share) At(i int64) int64 {
	if i > (math.MaxInt64-s.k)/s.n {
		return Never
	}
	return s.whole.At(s.k + i*s.n)
}

func (s share) Count(d int64) int64  { return (s.whole.Count(d) - s.k + s.n - 1) / s.n }
func (s share) Rate(t int64) float64 { return s.whole.Rate(t) / float64(s.n) }
func (s share) sequential() Schedule { return share{Sequential(s.whole), s.k, s.n} }

// Sequential is s for one goroutine that asks for arrivals roughly in order: the same answers, each at constant cost
// and without allocation.
func Sequential(s Schedule) Schedule {
	if w, ok := s.(interface{ sequential() Schedule }); ok {
		return w.sequential()
	}
	return s
}

// Due is how many arrivals from index from on are due at offset now, at most limit. It asks s for a few more than
// that, so give it a Sequential one.
func Due(s Schedule, from, now int64, limit int) int {
	// The answer lies in lo..hi−1: doubling steps, then halving ones, since mostly few are due.
	lo, hi := 0, limit+1
	for step := 1; lo < limit; step *= 2 {
		try := min(lo+step, limit)
		if s.At(from+int64(try)-1) > now {
			hi = try
			break
		}
		lo = try
	}
	for hi-lo > 1 {
		try := lo + (hi-lo)/2
		if s.At(from+int64(try)-1) > now {
			hi = try
		} else {
			lo = try
		}
	}
	return lo
}
