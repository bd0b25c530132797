package schedule

import (
	"errors"
	"time"
)

// Ramp changes the rate evenly from one rate to the other over a time (the slope), then keeps the other for ever (the hold).
// One of the rates may be 0. From 0 to 10 messages per second over 2 s, the slope has 10 arrivals: number 0 at 0 s, number 5
// at 1.41 s, and number 10 begins the hold at 2 s. Times on the slope are within 1 ns; the hold is exact.
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
	return newPiecewise("ramp", PlainPiecewise{Segments: []PlainSegment{{first, last, over}}})
}
