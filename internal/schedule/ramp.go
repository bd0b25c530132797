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
	if err := span("ramp's length", over); err != nil {
		return nil, err
	}
	if first == 0 && last == 0 {
		return nil, errors.New("ramp: both rates are 0; allowed is one of them at most")
	}
	r := &ramp{from: float64(first) / perRate, to: float64(last) / perRate, over: int64(over)}
	// The mean rate over the whole slope, as one segment before the hold: only its total is used.
	total := uint128.From64(uint64(over)).Mul64(first + last).Rsh(1)
	r.after.segments = []segment{{rate: (first + last) / 2}, {int64(over), last, total}}
	n, rest := total.QuoRem64(perMessage)
	if r.slope = int64(n.Lo); rest > 0 {
		r.slope++
	}
	return r, nil
}

type ramp struct {
	from, to float64 // per second
	over     int64   // length of the slope, ns
	slope    int64   // arrivals on the slope
	after    line    // what holds after it; its first segment has the slope's total only
}

// At inverts i = from·t + (to − from)/(2·over)·t². It uses the form of the solution that never subtracts two nearly equal
// numbers: t = 2i / (from + √(from² + 2·a·i)), with a = (to − from)/over.
func (r *ramp) At(i int64) int64 {
	if i >= r.slope {
		return r.after.At(i)
	}
	if i == 0 && r.from > 0 {
		return 0
	}
	a := (r.to - r.from) / float64(r.over) * 1e9
	root := math.Sqrt(max(0, r.from*r.from+2*a*float64(i)))
	if r.from+root == 0 {
		return 0
	}
	return min(int64(2e9*float64(i)/(r.from+root)), r.over-1)
}

func (r *ramp) Count(d int64) int64 {
	if d >= r.over {
		return r.after.Count(d)
	}
	if d <= 0 {
		return 0
	}
	s := float64(d) / 1e9
	n := int64(s * (r.from + r.Rate(d)) / 2)
	for n > 0 && r.At(n-1) >= d {
		n--
	}
	for n < r.slope && r.At(n) < d {
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
