package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Bursts repeats a period without end. Each period begins with a burst of the given length, at rate burst; the rest of it
// has rate base. Rates are in messages per second, and one of them may be 0.
func Bursts(base, burst float64, period, length time.Duration) (Schedule, error) {
	low, err := quantaOrZero("base rate", base)
	if err != nil {
		return nil, err
	}
	high, err := quantaOrZero("burst rate", burst)
	if err != nil {
		return nil, err
	}
	if err := checkSpan("burst period", period); err != nil {
		return nil, err
	}
	if length <= 0 || length >= period {
		return nil, fmt.Errorf("burst length: %v; allowed is more than 0 and less than the period, %v", length, period)
	}
	if low == 0 && high == 0 {
		return nil, errors.New("bursts: both rates are 0; allowed is one of them at most")
	}
	return newPiecewise("burst segment", PlainPiecewise{Segments: []PlainSegment{{high, high, length}, {low, low, period - length}}, Periodic: true})
}
