package lab

import (
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/study"
)

// schedule returns the schedule of the spec's load.
func (b *bench) schedule() (schedule.Schedule, error) {
	return loadSchedule(b.spec.Load, time.Duration(b.spec.Duration), b.spec.Seed)
}

// arrivals returns the schedule of a steady load, constant or Poisson as the spec says, for searches and curves.
func (b *bench) arrivals(rate float64) (schedule.Schedule, error) {
	return loadSchedule(study.Load{Shape: b.spec.Load.Shape, Rate: rate}, 0, b.spec.Seed)
}

// changing reports whether a load changes over the measured phase, so that its schedule has to begin with that phase.
func changing(l study.Load) bool { return l.Shape != "constant" && l.Shape != "poisson" }

// meanRate returns the constant rate at which as many messages are due as s has over a time. It is the warm-up of a changing load.
func meanRate(s schedule.Schedule, over time.Duration) (schedule.Schedule, error) {
	return schedule.Constant(float64(schedule.Sequential(s).Count(int64(over))) / over.Seconds())
}

// loadSchedule returns the schedule of a load. over is the length of the measured phase, for which a ramp lasts.
func loadSchedule(l study.Load, over time.Duration, seed int64) (schedule.Schedule, error) {
	switch l.Shape {
	case "constant":
		return schedule.Constant(l.Rate)
	case "poisson":
		return schedule.Poisson(l.Rate, uint64(seed))
	case "steps":
		steps := make([]schedule.Step, len(l.Steps))
		for i, s := range l.Steps {
			steps[i] = schedule.Step{Rate: s.Rate, For: time.Duration(s.For)}
		}
		return schedule.Steps(steps)
	case "ramp":
		return schedule.Ramp(l.Rate, l.To, over)
	case "bursts":
		if l.Burst == nil {
			return nil, errors.New("load.burst: a bursty load needs rate, every and for")
		}
		return schedule.Bursts(l.Rate, l.Burst.Rate, time.Duration(l.Burst.Every), time.Duration(l.Burst.For))
	}
	return nil, fmt.Errorf("load.shape: unknown word %q; allowed: constant, poisson, steps, ramp, bursts", l.Shape)
}
