package results

import (
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// LimitsOf returns the bottleneck of a record's load: above the rate that a search found, in a closed loop, or if less came
// through than was offered. asked is false for a load that kept up, and for loads without this check, such as backlogs.
func LimitsOf(r store.Record) (l store.Limits, asked bool) {
	switch {
	case r.Result == nil:
		return nil, false
	case r.Result.Sustainable != nil:
		return r.Result.Sustainable.Limits, true
	}
	closed := r.Spec.Measure == study.MeasurePeak || r.Spec.Measure == study.MeasureCount && r.Spec.Load.Rate == 0
	return r.Result.Limits, closed || len(r.Result.Limits) > 0 || RateMissed([]store.Record{r})
}
