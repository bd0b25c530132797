package results

import (
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// Course is the course of r over time. That of a closed loop has no latency.
func Course(r store.Record) []store.Tick {
	if r.Result == nil {
		return nil
	}
	if !ClosedLoop(r.Spec) {
		return r.Result.Series
	}
	ticks := slices.Clone(r.Result.Series)
	for i := range ticks {
		ticks[i].EndToEndP50, ticks[i].EndToEndP99 = 0, 0
	}
	return ticks
}

// Phase is a part of a course over time.
type Phase struct {
	Name  string
	Until float64 // seconds since the start of the measured phase
}

// Phases lists the phases of ticks, which are r's. A phase ends between two samples: warm-up where the measured phase
// begins, and that one when it had its length.
func Phases(r store.Record, ticks []store.Tick) []Phase {
	var phases []Phase
	for _, t := range ticks {
		until := float64(t.OffsetNs) / 1e9
		switch t.Phase {
		case "warmup":
			until = 0
		case "measure":
			until = max(until, r.Result.Seconds)
		}
		if n := len(phases); n > 0 && phases[n-1].Name == t.Phase {
			phases[n-1].Until = until
		} else {
			phases = append(phases, Phase{t.Phase, until})
		}
	}
	return phases
}
