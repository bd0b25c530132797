package results

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// LatencyKind is a kind of latency, such as the end-to-end latency. Every record has a histogram of each, from which
// metrics are read.
type LatencyKind struct {
	Name string // as in a record's JSON: e2e, publish, …
	Text string // for people, with its start and end
	Of   func(store.Latency) hist.Snapshot

	fromSend     *LatencyKind // the same latency from the actual send; nil if it counts from there already
	isLag        bool         // how late messages were sent, for any reason
	acrossClocks bool         // whether its two times may come from the clocks of two agents
}

// LatencyKinds lists all kinds of latency. The first is the default. It is never changed.
var LatencyKinds = []LatencyKind{endToEndLatency, endToEndService, publishLatency, publishService, sendLag, generatorLag}

var (
	endToEndLatency = LatencyKind{
		Name: "e2e", Text: "end-to-end latency (received − intended)", fromSend: &endToEndService, acrossClocks: true,
		Of: func(l store.Latency) hist.Snapshot { return l.EndToEnd },
	}
	endToEndService = LatencyKind{
		Name: "e2e_service", Text: "end-to-end service time (received − sent)", acrossClocks: true,
		Of: func(l store.Latency) hist.Snapshot { return l.EndToEndService },
	}
	publishLatency = LatencyKind{
		Name: "publish", Text: "publish latency (acked − intended)", fromSend: &publishService, Of: func(l store.Latency) hist.Snapshot { return l.Publish },
	}
	publishService = LatencyKind{
		Name: "service", Text: "publish service time (acked − sent)", Of: func(l store.Latency) hist.Snapshot { return l.Service },
	}
	sendLag = LatencyKind{
		Name: "lag", Text: "lag (sent − intended)", isLag: true, Of: func(l store.Latency) hist.Snapshot { return l.Lag },
	}
	generatorLag = LatencyKind{
		Name: "generator_lag", Text: "the generator's own lag", isLag: true, Of: func(l store.Latency) hist.Snapshot { return l.GeneratorLag },
	}
)

// LatencyByName finds a kind of latency; the first for an empty name. The error for an unknown name lists the known ones.
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

// LatencyNames lists the names of LatencyKinds in their order.
func LatencyNames() []string {
	return lists.Map(LatencyKinds, func(k LatencyKind) string { return k.Name })
}

// metric is a statistic of the latency, such as its mean, as a metric. It is read from records with a result.
func (k LatencyKind) metric(key, name string, s statistic) Metric {
	m := Metric{
		Key: key, Name: name, Doc: k.Text, Unit: unit.Nanoseconds, Better: Lower, Histogram: k.Name, quantile: s.quantile,
		isLatency: true, acrossClocks: k.acrossClocks,
		measured: func(r store.Record) float64 { return s.least(k.Of(r.Result.Latency)) },
		most:     func(r store.Record) float64 { return s.most(k.Of(r.Result.Latency)) },
	}
	if s.few != nil {
		m.few = func(r store.Record) bool { return s.few(k.Of(r.Result.Latency)) }
	}
	if !k.isLag {
		m.withoutOwn = func(r store.Record) float64 { return s.withoutOwn(k, r.Result.Measurement) }
	}
	return m
}

// statistic is a figure of a histogram, in nanoseconds; NaN for an empty one. least and most are its bounds: they differ if
// messages never came.
type statistic struct {
	least, most func(hist.Snapshot) float64
	withoutOwn  func(LatencyKind, store.Measurement) float64 // the least that it would be without the generator's part
	quantile    float64                                      // 0.99 of a p99; 0 if it is no quantile
	few         func(hist.Snapshot) bool                     // reports whether there are too few messages for a conclusion; nil: any number is enough
}

// leastBeyond is the least number of messages beyond a quantile for a conclusion from it: a p99 of 80 messages is just their maximum.
const leastBeyond = 10

// Quantile is a quantile of the latency as a metric without key and name.
func (k LatencyKind) Quantile(q float64) Metric { return k.metric("", "", quantile(q)) }

// quantile is Quantile at q as a statistic of a metric: quantile(0.99) reads the 99th percentile.
func quantile(q float64) statistic {
	return statistic{
		quantile: q,
		least:    func(s hist.Snapshot) float64 { return Quantile(s, q) },
		few: func(s hist.Snapshot) bool {
			isExtreme := q <= 0 || q >= 1 // it is a fact about these messages
			return !isExtreme && float64(s.Count())*min(q, 1-q) < leastBeyond*(1-1e-9)
		},
		most: func(s hist.Snapshot) float64 {
			most := s.QuantileAtMost(q)
			switch {
			case s.Count() == 0:
				return math.NaN()
			case most == hist.Unbounded:
				return math.Inf(1)
			}
			return float64(most)
		},
		withoutOwn: func(k LatencyKind, m store.Measurement) float64 {
			own := m.OwnDelay()
			if k.fromSend == nil {
				return float64(own.WithoutPauses(k.Of(m.Latency).Quantile)(q))
			}
			return float64(own.Without(k.Of(m.Latency), k.fromSend.Of(m.Latency))(q))
		},
	}
}

// Quantile is the quantile q of a histogram, in nanoseconds. It is NaN for an empty one, unlike the histogram's own.
func Quantile(s hist.Snapshot, q float64) float64 {
	if s.Count() == 0 {
		return math.NaN()
	}
	return float64(s.Quantile(q))
}

// mean is the mean of a histogram. One value that may be any higher leaves it without an upper bound.
var mean = statistic{
	least: func(s hist.Snapshot) float64 {
		if s.Count() == 0 {
			return math.NaN()
		}
		return s.Mean()
	},
	most: func(s hist.Snapshot) float64 {
		switch {
		case s.Count() == 0:
			return math.NaN()
		case s.Censored() > 0:
			return math.Inf(1)
		}
		return s.Mean()
	},
	withoutOwn: func(k LatencyKind, m store.Measurement) float64 {
		return m.OwnDelay().MeanWithout(k.Of(m.Latency).Mean(), k.fromSend != nil)
	},
}

// Distribution holds all latencies of a point at one load, with its repetitions merged into one histogram. Percentiles can't be
// averaged, so those of all repetitions are read from it.
type Distribution struct {
	Point    Point
	RowTitle string // of the load point: "rate 20k/s", "curve 50.0 %"
	Used     bool   // whether conclusions may be drawn from it
	N        int    // repetitions in it
	// Closed reports whether it is of a closed loop. Such a latency only shows how full the window or the backlog was. Formats
	// that copy records keep it and say so; no chart shows it and no report draws conclusions from it.
	Closed    bool
	Latencies hist.Snapshot
	Pauses    hist.Snapshot // pauses of the measuring machine meanwhile; empty if they weren't recorded
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
		if r.Result == nil || kind.Of(r.Result.Latency).Count() == 0 {
			continue
		}
		d.N++
		d.Latencies = d.Latencies.Merge(kind.Of(r.Result.Latency))
		if r.Result.Pauses != nil {
			d.Pauses = d.Pauses.Merge(r.Result.Pauses.Late)
		}
	}
	return d
}
