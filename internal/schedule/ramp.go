package schedule

import (
	"errors"
	"math"
	"time"

	"lukechampine.com/uint128"
)

// Ramp changes the rate evenly from one rate to the other over a time (the slope), then keeps the other for ever (the hold).
// One of the rates may be 0. From 0 to 10 messages per second over 2 s, the slope has 10 arrivals: number 0 at 0 s, number 5
// at 1.41 s, and number 10 begins the hold at 2 s. Times on the slope are within 1 ns; the hold is exact: it counts in quanta, of
// which 10^18 make one message.
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
	quanta := uint128.From64(uint64(over)).Mul64(first + last).Rsh(1) // of the slope: its length times the mean of both rates
	// The hold is a single segment of constant rate that begins after the slope. It is never asked for earlier times.
	hold := piecewise{segments: []segment{{start: int64(over), rate: last, before: quanta}}}
	return &ramp{
		from: float64(first) / quantaPerHertz, to: float64(last) / quantaPerHertz, over: int64(over),
		quanta: quanta, arrivals: hold.Count(int64(over)), hold: hold,
	}, nil
}

type ramp struct {
	from, to float64         // messages per second
	over     int64           // length of the slope, ns
	quanta   uint128.Uint128 // of the slope; quantaPerMessage of them make one message
	arrivals int64           // how many lie on the slope
	hold     piecewise       // the rate after the slope
}

// At measures the time on the slope from the end with the lower rate, because rounding moves arrivals the farthest there.
func (r *ramp) At(i int64) int64 {
	if i >= r.arrivals {
		return r.hold.At(i)
	}
	if r.from <= r.to {
		return min(int64(r.slopeTime(r.from, float64(i))), r.over-1)
	}
	left := r.quanta.Sub(uint128.From64(uint64(i)).Mul64(quantaPerMessage)) // above 0, as i is below r.arrivals
	messagesLeft := (float64(left.Hi)*(1<<64) + float64(left.Lo)) / quantaPerMessage
	timeLeft := int64(math.Ceil(r.slopeTime(r.to, messagesLeft)))
	return max(0, r.over-timeLeft)
}

// slopeTime returns how many ns it takes to send n messages while the rate rises evenly, beginning with low, the lower of the
// two rates. A slope that falls is the same read backwards. It solves low·t + a/2·t² = n, where a is the rise of the rate
// per second. The form t = 2n / (low + √(low² + 2·a·n)) never subtracts two nearly equal numbers.
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
	// Time times mean rate may be off by one or two, because it is rounded. At decides.
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
