package page

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// quantiles are the 49 quantiles from 0 to 0.999999 at which distributions are drawn: evenly spaced on HdrHistogram's axis, which is
// 1/(1−q) on a logarithmic scale.
var quantiles = func() []float64 {
	const perDecade = 8
	var qs []float64
	for i := range 6*perDecade + 1 {
		qs = append(qs, 1-math.Pow(10, -float64(i)/perDecade))
	}
	return qs
}()

// latencies are the kinds of latency whose distributions a page draws.
var latencies = slices.DeleteFunc(slices.Clone(results.LatencyKinds), func(k results.LatencyKind) bool {
	return k.Name == "e2e_service" || k.Name == "generator_lag"
})

// curve is a distribution of latencies, merged over repetitions.
type curve struct {
	N   int64  `json:"n"` // latencies counted
	Max number `json:"max"`
	// Values are the latencies at quantiles. They end with the first quantile beyond 1−1/N: from there on all are Max.
	Values []number `json:"v"`
}

// curves has one curve for each kind, which is nil if nothing was counted.
func curves(records []store.Record, kinds []results.LatencyKind) []*curve {
	out := make([]*curve, len(kinds))
	for i, kind := range kinds {
		out[i] = merged(records, func(r *store.Result) hist.Snapshot { return kind.Of(r.Latency) })
	}
	return out
}

// ownPauses is the distribution of the generator's own pauses. It is nil if they weren't recorded.
func ownPauses(records []store.Record) *curve {
	return merged(records, func(r *store.Result) hist.Snapshot {
		if r.Pauses == nil {
			return hist.Snapshot{}
		}
		return r.Pauses.Late
	})
}

// merged is the curve of one distribution over all records. It is nil if nothing was counted.
func merged(records []store.Record, of func(*store.Result) hist.Snapshot) *curve {
	var all hist.Snapshot
	for _, r := range records {
		if r.Result != nil {
			all = all.Merge(of(r.Result))
		}
	}
	n := all.Count()
	if n == 0 {
		return nil
	}
	c := &curve{N: n, Max: number(all.Max())}
	for _, q := range quantiles {
		c.Values = append(c.Values, number(all.Quantile(q)))
		if (1-q)*float64(n) < 1 {
			break
		}
	}
	return c
}
