package results

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// LatencyKind is one of the histograms of a record.
type LatencyKind struct {
	Name string // as in a record's JSON: e2e, publish, …
	Text string // for people, with what it is measured from and to
	Of   func(store.Latency) hist.Snapshot
}

// LatencyKinds lists the histograms of a record. The first is the default.
var LatencyKinds = []LatencyKind{
	{Name: "e2e", Text: "end-to-end latency (received − intended)", Of: func(l store.Latency) hist.Snapshot { return l.EndToEnd }},
	{Name: "e2e_service", Text: "end-to-end service time (received − sent)", Of: func(l store.Latency) hist.Snapshot { return l.EndToEndService }},
	{Name: "publish", Text: "publish latency (acked − intended)", Of: func(l store.Latency) hist.Snapshot { return l.Publish }},
	{Name: "service", Text: "publish service time (acked − sent)", Of: func(l store.Latency) hist.Snapshot { return l.Service }},
	{Name: "lag", Text: "lag (sent − intended)", Of: func(l store.Latency) hist.Snapshot { return l.Lag }},
	{Name: "generator_lag", Text: "the generator's own lag", Of: func(l store.Latency) hist.Snapshot { return l.GeneratorLag }},
}

// LatencyByName finds a histogram; the first for an empty name. The error for an unknown name lists those that exist.
func LatencyByName(name string) (LatencyKind, error) {
	if name == "" {
		return LatencyKinds[0], nil
	}
	for _, k := range LatencyKinds {
		if k.Name == name {
			return k, nil
		}
	}
	return LatencyKind{}, fmt.Errorf("unknown latency %q; known: %s", name, strings.Join(LatencyNames(), ", "))
}

// Quantile is a quantile of the latency as a metric without key and name.
func (k LatencyKind) Quantile(q float64) Metric { return latencyMetric("", "", k.Name, q) }

// LatencyNames lists the names of LatencyKinds in their order.
func LatencyNames() []string {
	var names []string
	for _, k := range LatencyKinds {
		names = append(names, k.Name)
	}
	return names
}

// Distribution is one latency of a point at one load, over its repetitions.
type Distribution struct {
	Point    Point
	RowTitle string // of the load point: "rate 20k/s", "curve 50 %"
	Used     bool   // whether conclusions may be drawn from it
	N        int    // repetitions in it
	// Closed tells whether it is of a closed loop. Such a latency says how full the window or the backlog was, nothing about a load.
	// Formats that copy records keep it and say so; no chart shows it and no report concludes from it.
	Closed        bool
	Pauses        hist.Snapshot // pauses of the measuring machine meanwhile; empty if they weren't recorded
	hist.Snapshot               // the latencies
}

// Distributions merges the repetitions of every point and load. Loads without that histogram are left out.
func Distributions(points []Point, kind LatencyKind) []Distribution {
	var all []Distribution
	for _, p := range points {
		for _, l := range p.MeasuredLoads() {
			if d := l.Distribution(kind); d.N > 0 {
				all = append(all, d)
			}
		}
	}
	return all
}

// Distribution merges the repetitions of a load. It has no repetition (N is 0) if none has that histogram.
func (l LoadPoint) Distribution(kind LatencyKind) Distribution {
	d := Distribution{Point: l.Point, RowTitle: l.RowTitle, Used: l.Used(), Closed: l.Closed}
	for _, r := range l.Records {
		latency := kind.Of(r.Result.Latency)
		if latency.Count() == 0 {
			continue
		}
		d.N++
		d.Snapshot = d.Merge(latency)
		if r.Result.Pauses != nil {
			d.Pauses = d.Pauses.Merge(r.Result.Pauses.Late)
		}
	}
	return d
}
