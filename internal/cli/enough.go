package cli

import (
	"context"
	"fmt"
	"math"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// enough answers for points that are repeated until they are known closely enough.
type enough struct {
	store *store.Store
	until map[string]float64 // by point: half the width of the interval, as a share of the median
	said  map[string]bool
	say   func(format string, args ...any)
}

// of tells whether the interval of what a point is measured for is as narrow as asked. Of the store's records, so that what
// another runner found counts.
func (e *enough) of(ctx context.Context, run study.Run) bool {
	goal := e.until[run.Point.ID]
	metric, ok := results.Headline(run.Point.Spec.Measure)
	if goal == 0 || !ok || run.Repetition <= leastConfident {
		return false
	}
	records, err := e.store.Records(ctx, store.Filter{PointIDs: []string{run.Point.ID}, Statuses: []store.Status{store.OK}})
	if err != nil || len(records) == 0 {
		return false
	}
	half, n := results.HalfWidth(metric, results.Of(records).Points[0].Ok())
	if !(half <= goal) {
		return false
	}
	if !e.said[run.Point.ID] {
		e.said[run.Point.ID] = true
		e.say("%s: %s is known to ±%s %% after %d repetitions: no more are needed", run.Point.Label, metric.Name, percentText(half), n)
	}
	return true
}

// leastConfident is how many values an interval of order statistics needs.
const leastConfident = 6

func percentText(share float64) string {
	if math.IsNaN(share) {
		return "?"
	}
	return fmt.Sprintf("%.2g", 100*share)
}
