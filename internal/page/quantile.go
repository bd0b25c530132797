// Distributions of latencies, as curves that the front end draws: latency against quantile. Of 1000 messages a curve ends at the quantile
// 0.99925, the first that has fewer than one message beyond it: the slowest one lies beyond 0.999.

package page

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// sharesBeyond are the shares of messages beyond each of quantiles. They fall to a tenth in eight even steps, as on HdrHistogram's axis:
// 1, 0.75, 0.56 … 0.1 … 0.000001. The median, which tables show beside the chart, isn't on a step and stands between two.
var sharesBeyond = func() []float64 {
	const nines, stepsPerNine = 6, 8
	shares := []float64{0.5}
	for step := range nines*stepsPerNine + 1 {
		shares = append(shares, math.Pow(10, -float64(step)/stepsPerNine))
	}
	slices.Sort(shares)
	slices.Reverse(shares)
	return shares
}()

// quantiles are the 50 quantiles at which distributions are drawn: 0, 0.25, 0.44, 0.5, 0.58 … 0.9, 0.925 … 0.99 … 0.999999.
var quantiles = func() []float64 {
	return lists.Map(sharesBeyond, func(share float64) float64 { return 1 - share })
}()

// latencies are the kinds of latency whose distributions a page draws.
var latencies = slices.DeleteFunc(slices.Clone(results.LatencyKinds), func(k results.LatencyKind) bool {
	return k.Name == "e2e_service" || k.Name == "generator_lag"
})

// curve is a distribution of latencies, merged over repetitions.
type curve struct {
	N   int64  `json:"n"` // latencies counted
	Max number `json:"max"`
	// Values are the latencies at quantiles. They end with the first quantile that has fewer than one message beyond it:
	// from there on all are Max.
	Values []number `json:"v"`
	// Known is how many of them are known. The others are lower bounds, because messages never came. 0: all are known.
	Known int `json:"k,omitempty"`
}

// curves returns one curve for each kind, which is nil if nothing was counted.
func curves(records []store.Record, kinds []results.LatencyKind) []*curve {
	return lists.Map(kinds, func(kind results.LatencyKind) *curve {
		return mergedCurve(records, func(r *store.Result) hist.Snapshot { return kind.Of(r.Latency) })
	})
}

// ownPauses returns the distribution of the generator's own pauses. It returns nil if they weren't recorded.
func ownPauses(records []store.Record) *curve {
	return mergedCurve(records, func(r *store.Result) hist.Snapshot {
		if r.Pauses == nil {
			return hist.Snapshot{}
		}
		return r.Pauses.Late
	})
}

// mergedCurve returns the curve of one histogram of each record, all merged. It returns nil if nothing was counted.
func mergedCurve(records []store.Record, histogramOf func(*store.Result) hist.Snapshot) *curve {
	var all hist.Snapshot
	for _, r := range records {
		if r.Result != nil {
			all = all.Merge(histogramOf(r.Result))
		}
	}
	n := all.Count()
	if n == 0 {
		return nil
	}
	c := &curve{N: n, Max: number(all.Max())}
	const rounding = 1e-9 // more than the error of the product: of 10,000 messages exactly one lies beyond 0.9999
	for i, q := range quantiles {
		if c.Known == 0 && i > 0 && all.QuantileAtMost(q) == hist.Unbounded {
			c.Known = i
		}
		c.Values = append(c.Values, number(all.Quantile(q)))
		messagesBeyond := sharesBeyond[i] * float64(n)
		if messagesBeyond < 1-rounding {
			break
		}
	}
	return c
}
