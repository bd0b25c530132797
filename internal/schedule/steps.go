package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Step is a rate, in messages per second, for a time. Rate 0 is a pause.
type Step struct {
	Rate float64
	For  time.Duration
}

// Steps sends at one rate after the other. The last rate holds for ever; its For is not read.
func Steps(steps []Step) (Schedule, error) {
	if len(steps) == 0 {
		return nil, errors.New("steps: none given; allowed is one or more")
	}
	var l line
	sends := false
	for i, s := range steps {
		what := fmt.Sprintf("step %d", i+1)
		rate, err := quanta(what, s.Rate, true)
		if err != nil {
			return nil, err
		}
		length := s.For
		if i == len(steps)-1 {
			length = 1
		}
		if err := span(what, length); err != nil {
			return nil, err
		}
		if err := span(what+", all before it included", time.Duration(l.period)+length); err != nil {
			return nil, err
		}
		l.add(rate, length)
		sends = sends || rate > 0
	}
	if !sends {
		return nil, errors.New("steps: every rate is 0")
	}
	l.hold()
	return &l, nil
}
