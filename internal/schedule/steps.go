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
	for i, s := range steps {
		what, length := fmt.Sprintf("step %d", i+1), s.For
		if i == len(steps)-1 {
			length = lastLength
		}
		rate, err := quantaOrZero(what, s.Rate)
		if err != nil {
			return nil, err
		}
		if err := l.addChecked(what, rate, length); err != nil {
			return nil, err
		}
	}
	if l.total.IsZero() {
		return nil, errors.New("steps: every rate is 0; allowed is one or more above 0")
	}
	l.hold()
	return &l, nil
}
