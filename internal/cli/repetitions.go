package cli

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/verdict"
)

// shows says, for each study, what its repetitions can show: whether a test can find a difference between brokers, and whether an
// interval of a median can be given.
func shows(p plan) []string {
	var lines []string
	for _, s := range p.studies {
		line := fmt.Sprintf("repetitions: %d", s.Repeats)
		if s.Until > 0 {
			line = fmt.Sprintf("repetitions: until the interval is within ±%.2g %% of the median, at most %d", 100*s.Until, s.Repeats)
		}
		brokers := map[product]bool{}
		for _, p := range p.points {
			if p.Study == s.Name {
				brokers[productOf(p.Spec)] = true
			}
		}
		switch {
		case s.Until > 0:
			line += "; an interval by which a run stops holds the truth in fewer than 95 % of such runs"
		case len(brokers) > 1 && s.Repeats < verdict.Enough:
			line += fmt.Sprintf(", too few to decide between %d brokers: that takes --repeat %d", len(brokers), verdict.Enough)
		}
		if s.Repeats < leastConfident {
			line += fmt.Sprintf("; a 95 %% interval of a median needs %d", leastConfident)
		}
		if s.Repeats == 1 && s.Source != "" {
			line += "; one run points to an answer of each claim, and decides none"
		}
		if len(p.studies) > 1 {
			line = s.Name + ", " + line
		}
		lines = append(lines, results.Capital(line)+".")
	}
	return lines
}

// closeEnough decides when points with --repeat 'until 5%' need no more repetitions: when half the interval of the median is at most 5 %
// of it.
type closeEnough struct {
	store *store.Store
	until map[string]float64 // by point ID, 0.05 for 5 %; others are not in it
	said  map[string]bool    // by point ID: the user knows that it needs no more
	say   func(format string, args ...any)
}

// reached reports whether a point needs no further repetition. It reads the store, so that the repetitions of other runners count.
func (e *closeEnough) reached(ctx context.Context, run study.Run) bool {
	goal, repeats := e.until[run.Point.ID]
	metric, known := results.HeadlineOf([]results.Point{{Spec: run.Point.Spec}})
	if !repeats || !known || run.Repetition <= leastConfident {
		return false
	}
	records, err := e.store.Records(ctx, store.Filter{PointIDs: []string{run.Point.ID}, Statuses: []store.Status{store.OK}})
	if err != nil || len(records) == 0 {
		return false
	}
	summary := metric.Over(results.Of(records).Points[0].Ok())
	half := summary.RelativeHalfWidth()
	if !(half <= goal) { // also if it is unknown: NaN
		return false
	}
	if !e.said[run.Point.ID] {
		e.said[run.Point.ID] = true
		e.say("%s: %s is known to ±%.2g %% after %d repetitions: no more are needed", run.Point.Label, metric.Name, 100*half, summary.N)
	}
	return true
}

// leastConfident is how many values a 95 % interval of a median needs.
const leastConfident = 6
