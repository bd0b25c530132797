package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Step is a rate, in messages per second, that changes evenly to another one over a time, or stays if both are the same. Rate 0 is a
// pause.
type Step struct {
	Rate, To float64
	For      time.Duration
}

// Steps sends at one rate after the other. The rate at the end of the last step holds for ever; of a step whose rates are the same,
// its For is not read then. With repeat, the steps begin again after the last one.
func Steps(steps []Step, repeat bool) (Schedule, error) {
	if len(steps) == 0 {
		return nil, errors.New("steps: none given; allowed is one or more")
	}
	p := PlainPiecewise{Periodic: repeat}
	for i, step := range steps {
		what := fmt.Sprintf("step %d", i+1)
		rate, err := quantaOrZero(what, step.Rate)
		if err != nil {
			return nil, err
		}
		to, err := quantaOrZero(what, step.To)
		if err != nil {
			return nil, err
		}
		p.Segments = append(p.Segments, PlainSegment{rate, to, step.For})
	}
	if last := &p.Segments[len(steps)-1]; !repeat && last.Rate == last.To {
		last.For = lastLength
	}
	return newPiecewise("step", p)
}
