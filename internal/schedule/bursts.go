package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Bursts sends at rate burst for length at the start of every period, and at rate base for the rest of it; either
// may be 0.
func Bursts(base, burst float64, every, length time.Duration) (Schedule, error) {
	low, err := quanta("base rate", base, true)
	if err != nil {
		return nil, err
	}
	high, err := quanta("burst rate", burst, true)
	if err != nil {
		return nil, err
	}
	if err := span("burst period", every); err != nil {
		return nil, err
	}
	if length <= 0 || length >= every {
		return nil, fmt.Errorf("burst length: %v; allowed is more than 0 and less than the period, %v", length, every)
	}
	if low == 0 && high == 0 {
		return nil, errors.New("bursts: both rates are 0")
	}
	var l line
	l.add(high, length)
	l.add(low, every-length)
	return &l, nil
}
