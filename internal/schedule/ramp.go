package schedule

import (
	"errors"
	"math"
	"time"

	"lukechampine.com/uint128"
)

// Ramp changes the rate evenly from one rate to the other over a time, then holds it. One of the rates may be 0. On the
// slope arrival i solves a quadratic equation, and times are within 1 ns; the hold is exact.
func Ramp(from, to float64, over time.Duration) (Schedule, error) {
	first, err := quantaOrZero("ramp's first rate", from)
	if err != nil {
		return nil, err
	}
	last, err := quantaOrZero("ramp's last rate", to)
	if err != nil {
		return nil, err
	}
	if err := checkSpan("ramp's length", over); err != nil {
		return nil, err
	}
	if first == 0 && last == 0 {
		return nil, errors.New("ramp: both rates are 0; allowed is one of them at most")
	}
	onSlope := uint128.From64(uint64(over)).Mul64(first + last).Rsh(1) // quanta
	r := &ramp{from: float64(first) / quantaPerHertz, to: float64(last) / quantaPerHertz, over: int64(over), onSlope: onSlope}
	// Only the segment of the hold is ever looked at. The one before it stands for the slope, with its mean rate.
	r.hold.segments = []segment{{rate: (first + last) / 2}, {start: int64(over), rate: last, before: onSlope}}
	n, rest := onSlope.QuoRem64(quantaPerMessage)
	r.arrivals = int64(n.Lo)
	if rest > 0 {
		r.arrivals++
	}
	return r, nil
}

type ramp struct {
	from, to float64         // per second
	over     int64           // length of the slope, ns
	onSlope  uint128.Uint128 // quanta
	arrivals int64           // on the slope
	hold     line            // the rate after the slope
}

// At measures from the end at which the rate is lower: there rounding would move arrivals the farthest.
func (r *ramp) At(i int64) int64 {
	switch {
	case i >= r.arrivals:
		return r.hold.At(i)
	case r.from <= r.to:
		return min(int64(r.slopeTime(r.from, float64(i))), r.over-1)
	}
	left := r.onSlope.Sub(uint128.From64(uint64(i)).Mul64(quantaPerMessage)) // above 0, as i is below r.arrivals
	messages := (float64(left.Hi)*(1<<64) + float64(left.Lo)) / quantaPerMessage
	return max(0, r.over-int64(math.Ceil(r.slopeTime(r.to, messages))))
}

// slopeTime returns in how many ns a number of messages is sent, if the rate rises evenly from low to the higher of the
// two rates. It solves low·t + a/2·t² = n, with a the rise of the rate per second, in the form that never subtracts two
// nearly equal numbers: t = 2n / (low + √(low² + 2·a·n)).
func (r *ramp) slopeTime(low, n float64) float64 {
	if n == 0 {
		return 0
	}
	a := math.Abs(r.to-r.from) / float64(r.over) * 1e9
	return 2e9 * n / (low + math.Sqrt(low*low+2*a*n))
}

func (r *ramp) Count(d int64) int64 {
	if d >= r.over {
		return r.hold.Count(d)
	}
	if d <= 0 {
		return 0
	}
	// The area below the slope, which rounding may put off by one or two; then what At says.
	seconds, meanRate := float64(d)/1e9, (r.from+r.Rate(d))/2
	n := int64(seconds * meanRate)
	for n > 0 && r.At(n-1) >= d {
		n--
	}
	for n < r.arrivals && r.At(n) < d {
		n++
	}
	return n
}

func (r *ramp) Rate(t int64) float64 {
	switch {
	case t < 0:
		return 0
	case t >= r.over:
		return r.to
	}
	return r.from + (r.to-r.from)*float64(t)/float64(r.over)
}
