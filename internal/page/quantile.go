package page

import (
	"math"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// quantiles are where distributions are drawn: evenly spaced on HdrHistogram's axis, 1/(1−q) on a logarithmic scale,
// from 1 to 1,000,000.
var quantiles = func() []float64 {
	const perDecade = 8
	var qs []float64
	for i := range 6*perDecade + 1 {
		qs = append(qs, 1-math.Pow(10, -float64(i)/perDecade))
	}
	return qs
}()

// distributions are the kinds of latency a level has, in the order in which the front end names them.
var distributions = []struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	of   func(store.Latency) hist.Snapshot
}{
	{"e2e", "end to end, from the intended time", func(l store.Latency) hist.Snapshot { return l.EndToEnd }},
	{"publish", "publish, from the intended time", func(l store.Latency) hist.Snapshot { return l.Publish }},
	{"service", "service, from the actual send", func(l store.Latency) hist.Snapshot { return l.Service }},
	{"lag", "schedule lag", func(l store.Latency) hist.Snapshot { return l.Lag }},
}

// curve is the value of one merged distribution at each of quantiles, as far as its count reaches: beyond 1−1/n
// everything is the maximum.
type curve struct {
	N      int64    `json:"n"`
	Max    number   `json:"max"`
	Values []number `json:"v"`
}

// curves are those of the first kinds of latency.
func curves(records []store.Record, kinds int) []*curve {
	out := make([]*curve, kinds)
	for i, d := range distributions[:kinds] {
		var merged hist.Snapshot
		for _, r := range records {
			if r.Result != nil {
				merged = merged.Merge(d.of(r.Result.Latency))
			}
		}
		if n := merged.Count(); n > 0 {
			c := &curve{N: n, Max: number(merged.Max())}
			for _, q := range quantiles {
				c.Values = append(c.Values, number(merged.Quantile(q)))
				if (1-q)*float64(n) < 1 {
					break
				}
			}
			out[i] = c
		}
	}
	return out
}
