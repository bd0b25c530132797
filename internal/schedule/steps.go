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
	var p PlainPiecewise
	for i, step := range steps {
		rate, err := quantaOrZero(fmt.Sprintf("step %d", i+1), step.Rate)
		if err != nil {
			return nil, err
		}
		p.Segments = append(p.Segments, PlainSegment{rate, step.For})
	}
	p.Segments[len(steps)-1].For = lastLength
	return newPiecewise("step", p)
}
