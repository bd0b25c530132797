package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/internal/unit"
)

// Better says which direction of a metric is the better one.
type Better int

// Directions.
const (
	Neither Better = iota
	Higher
	Lower
)

// Metric is one figure of a record, the same under the same key in every report and format.
type Metric struct {
	Key    string // for machines: one of the constants of this package
	Name   string // for people: "e2e p99"
	Head   string // over a column of figures, in up to two lines; empty if Name serves
	About  string // further words to Name, for pages and figures that have room for them
	Unit   unit.Unit
	Better Better
	Of     func(r store.Record) float64 // NaN if it was not measured or is not known

	// Books counts the metric's messages, also those of a single stream; nil for metrics that don't count messages (see Counts).
	Books func(store.Books) int64
	// Histogram is the name of the LatencyKind that the metric is read from by Read; empty for metrics of no histogram.
	Histogram string
	Read      func(hist.Snapshot) float64

	// raw is Of for latencies, but includes those of closed loops, which Of leaves out (see latency); nil for other metrics.
	raw func(r store.Record) float64
	// twoClocks tells whether a value may be the difference of the clocks of two agents.
	twoClocks bool
}

// Counts tells whether m counts messages. Over repetitions counts are summed, because a loss isn't averaged away.
func (m Metric) Counts() bool { return m.Books != nil }

// FromSend are the keys of latencies from the actual send, as other tools measure them. Results imported from those have no others.
var FromSend = []string{KeyServiceP50, KeyServiceP99, KeyEndToEndServiceP50, KeyEndToEndServiceP99}

// OnlyFromSend tells whether a record has no other latencies than those of FromSend.
func OnlyFromSend(r store.Record) bool {
	if r.Result == nil || ClosedLoop(r.Spec) {
		return false
	}
	l := r.Result.Latency
	return l.EndToEnd.Count() == 0 && l.Publish.Count() == 0 && l.EndToEndService.Count()+l.Service.Count() > 0
}

// CostMetrics are the keys of the metrics by which charts show the cost of a message.
var CostMetrics = []string{KeyBrokerCPU, KeyGeneratorCPU, KeyBrokerDiskPerMessage, KeyBrokerRSS}

// headlines are the keys of the metrics that kinds of measurement are made for.
var headlines = map[string]string{
	study.MeasureSustainable: KeySustainableLow, study.MeasureCurve: KeySustainableLow, study.MeasurePeak: KeyThroughput,
	study.MeasureRate: KeyEndToEndP99, study.MeasureCount: KeyTotalSeconds, study.MeasureBacklog: KeyDrainRate,
}

// Headline is the metric that a kind of measurement is made for. ok is false for one that has none, such as imported results.
func Headline(measure string) (m Metric, ok bool) {
	key, ok := headlines[measure]
	if !ok {
		return Metric{}, false
	}
	return MustMetric(key), true
}

// MetricByKey finds a metric, also one of views. The error for an unknown key lists the keys of Metrics.
func MetricByKey(key string) (Metric, error) {
	for _, metrics := range [][]Metric{Metrics, views} {
		if i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Key == key }); i >= 0 {
			return metrics[i], nil
		}
	}
	return Metric{}, fmt.Errorf("unknown metric %q; known: %s", key, strings.Join(MetricKeys(), ", "))
}

// MetricNamed finds a metric as people write it: by its key, by that without its unit, or as "sustainable".
func MetricNamed(name string) (Metric, error) {
	var known []string
	for _, m := range Metrics {
		if name == m.Key || name == m.Short() {
			return m, nil
		}
		known = append(known, m.Short())
	}
	return Metric{}, fmt.Errorf("unknown metric %q; known: %s%s", name, strings.Join(known, ", "), suggest.DidYouMean(name, known))
}

// Short is the key without its unit, unless the unit is what tells it from another (publish_mb_s).
func (m Metric) Short() string {
	if strings.HasSuffix(m.Key, "_mb_s") {
		return m.Key
	}
	for _, unit := range []string{"_s_per_million", "_ns", "_bytes", "_s", "_pct", "_low"} {
		if short, ok := strings.CutSuffix(m.Key, unit); ok {
			return short
		}
	}
	return m.Key
}

// MetricKeys lists the keys of Metrics in their order.
func MetricKeys() []string {
	var keys []string
	for _, m := range Metrics {
		keys = append(keys, m.Key)
	}
	return keys
}

// MustMetric is MetricByKey for the keys of this package. It panics on any other.
func MustMetric(key string) Metric {
	m, err := MetricByKey(key)
	if err != nil {
		panic("results: " + err.Error())
	}
	return m
}

// Column is the column of a table that shows a metric.
func Column(key string) document.Column {
	m := MustMetric(key)
	return document.Column{Key: key, Name: cmp.Or(m.Head, m.Name), Unit: m.Unit}
}

// Values are the values of m in records, unknown ones left out.
func (m Metric) Values(records []store.Record) []float64 {
	var values []float64
	for _, r := range records {
		if v := m.Of(r); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// Over is m over repetitions: the sum of counts, the median of everything else.
func (m Metric) Over(records []store.Record) Summary {
	values := m.Values(records)
	if !m.Counts() || len(values) == 0 {
		s := Summarize(values)
		s.Bound = m.Bound(records)
		return s
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Summary{N: len(values), Median: sum, Low: sum, High: sum, Summed: true}
}

// acrossClocks is m as a metric whose values may be the difference of the clocks of two agents.
func (m Metric) acrossClocks() Metric {
	m.twoClocks = true
	return m
}

// Bound is the largest error, either way, of a value of m in records, in nanoseconds. It is 0 unless the value is the difference of two
// agents' clocks.
func (m Metric) Bound(records []store.Record) float64 {
	bound := 0.0
	if !m.twoClocks {
		return bound
	}
	for _, r := range records {
		if r.Result != nil {
			bound = max(bound, float64(r.Result.ClockBoundNs))
		}
	}
	return bound
}
