package results

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Better is the direction of a metric that is better.
type Better int

// Directions.
const (
	Neither Better = iota
	Higher
	Lower
)

// Metric is one figure of a record, such as the 99th percentile of its end-to-end latency. It is the same under the same key
// in every report and format. Metrics lists all of them.
type Metric struct {
	Key    string // for machines: one of the constants of this package
	Name   string // for people: "e2e p99"
	Head   string // over a column of figures, in up to two lines; empty: Name
	About  string // addition to Name, for pages and figures with room for it
	Doc    string // addition to Name, for schemas: what is counted, from when to when
	Unit   unit.Unit
	Better Better

	Histogram string  // name of the LatencyKind that the metric is read from; empty for metrics of no histogram
	quantile  float64 // see Quantile

	// A metric is either a count of messages, which count reads from the books of a record, or another figure, which measured
	// reads from a record with a Result. Both return NaN if the figure is not known.
	count    func(store.Books) float64
	measured func(store.Record) float64
	// most reads the upper bound of the figure if messages never came: measured is then a lower bound. nil: measured is the value.
	most func(store.Record) float64
	// few reports whether a quantile has too few messages beyond it for any conclusion; nil for other metrics.
	few func(store.Record) bool
	// withoutOwn reads the lower bound of a latency without the generator's own part. It is nil for other metrics.
	withoutOwn func(store.Record) float64

	isLatency    bool // it is meaningless in a closed loop, so Of leaves it out there
	isCPU        bool // it is of processor time
	asRecorded   bool // Of leaves it out nowhere: see AsRecorded
	steady       bool // see Steady
	searched     bool // a search gave bounds for it: most is the rate that failed
	acrossClocks bool // it is the difference of two agents' clocks, if one agent sent and another received
}

// isGiven reports whether the value of m in a record comes from elsewhere: from a publication, or from a tool that was the generator.
func (m Metric) isGiven(r store.Record) bool {
	_, ok := r.Result.Given[m.Key]
	return ok
}

// Of is the value of m in a record; NaN if it was not measured or is not known. A published record has only the published values.
// A record of a closed loop has no latency: see study.Spec.ClosedLoop.
func (m Metric) Of(r store.Record) float64 {
	switch {
	case r.Result == nil:
		return math.NaN()
	case r.Kind != store.KindPublished && m.isLatency && !m.asRecorded && r.Spec.ClosedLoop():
		return math.NaN()
	case m.isGiven(r):
		return r.Result.Given[m.Key]
	case r.Kind == store.KindPublished:
		return math.NaN()
	case m.Counts() && r.Result.Books == (store.Books{}): // from a tool that doesn't count: the loss is unknown, not 0
		return math.NaN()
	case m.Counts():
		return m.count(r.Result.Books)
	}
	return decimal(m.measured(r)) * m.slowed(r)
}

// AtMost is the upper bound of m's value in a record: +Inf if only a lower bound is known. It is Of if all messages came.
func (m Metric) AtMost(r store.Record) float64 {
	value := m.Of(r)
	if m.most == nil || math.IsNaN(value) || m.isGiven(r) {
		return value
	}
	return decimal(m.most(r)) * m.slowed(r)
}

// WithoutOwn is the lower bound of m in a record without the generator's own lag and pauses (store.OwnDelay). It is Of unless m
// is a latency, or if nothing is known of the generator.
func (m Metric) WithoutOwn(r store.Record) float64 {
	value := m.Of(r)
	if m.withoutOwn == nil || math.IsNaN(value) || m.isGiven(r) {
		return value
	}
	return min(value, decimal(m.withoutOwn(r)))
}

// AsRecorded is m including the latency of closed loops, which shows how full the window was. It is for formats that copy
// records, and for comparisons with publications that print such latencies.
func (m Metric) AsRecorded() Metric {
	m.asRecorded = true
	return m
}

// Steady is m as if no process of ours had stood still, which takes as much off the rate of a closed loop.
func (m Metric) Steady() Metric {
	m.steady = true
	return m
}

// slowed is what a rate of a closed loop is to be multiplied by if m is steady. A record without the doubt lost less than one per cent.
func (m Metric) slowed(r store.Record) float64 {
	if !m.steady || !m.Rate() || !r.Spec.ClosedLoop() {
		return 1
	}
	return 1 / (1 - min(Standstill(r.Doubts), 0.99))
}

// Rate reports whether m is a rate.
func (m Metric) Rate() bool { return m.DoubtPlace() == doubt.Rate }

// Quantile is the metric's quantile, 0.99 for a p99; 0 if it is none.
func (m Metric) Quantile() float64 { return m.quantile }

// Latency reports whether m is a latency, which closed loops don't have.
func (m Metric) Latency() bool { return m.isLatency }

// NotMeasured says why no record of a spec has a value of m; empty if one may have.
func (m Metric) NotMeasured(s study.Spec) string {
	isSearch := s.Measure == study.MeasureSustainable || s.Measure == study.MeasureCurve && len(s.Curve.Rates) == 0
	finds := func(found bool, by string) string {
		if found {
			return ""
		}
		return fmt.Sprintf("measure: %s doesn't find it; %s", s.Measure, by)
	}
	switch m.Key {
	case KeySustainableLow, KeySustainableHigh, KeySustainableHeld:
		return finds(isSearch, "measure: sustainable and curve without rates do")
	case KeyKneeRate:
		return finds(s.Measure == study.MeasureCurve, "measure: curve does")
	case KeyTotalSeconds:
		return finds(s.Measure == study.MeasureCount, "measure: count does")
	case KeyDrainRate:
		return finds(s.Measure == study.MeasureBacklog, "measure: backlog does")
	case KeyRelayCPU, KeyRelayRSS:
		if s.Relays == 0 {
			return "there are none with relays: 0"
		}
	}
	isOfBacklogs := slices.ContainsFunc(backlogMetrics, func(other Metric) bool { return other.Key == m.Key })
	isOfPipelines := slices.ContainsFunc(pipelineMetrics, func(other Metric) bool { return other.Key == m.Key })
	switch {
	case isOfBacklogs && !s.Tails():
		return "only measure: backlog with backlog.subscriptions or backlog.topics has it"
	case isOfPipelines && s.Pipeline == nil:
		return "only a pipeline has it"
	case m.isLatency && s.Measure == study.MeasureRead:
		return "measure: read reads what others sent, at times that are not known"
	case m.isLatency && s.ClosedLoop():
		return fmt.Sprintf("measure: %s is a closed loop, whose latency says how full the window or the backlog was", s.Measure)
	case m.isLatency && strings.HasPrefix(m.Key, "e2e_") && s.SubscriptionsPerTopic == 0:
		return "nothing is received with subscriptionsPerTopic: 0"
	}
	return ""
}

// Counts reports whether m counts messages. Counts are summed over repetitions, so that a loss isn't averaged away.
func (m Metric) Counts() bool { return m.count != nil }

// CountIn is the count in books, also in those of a single stream; NaN if it is not known. It panics unless m counts
// messages.
func (m Metric) CountIn(b store.Books) float64 { return m.count(b) }

// Meaning is the name with its explanation: "held: for how many seconds sustainable_low was held in one trial".
func (m Metric) Meaning() string {
	if m.Doc == "" {
		return m.Name
	}
	return m.Name + ": " + m.Doc
}

// Short is the key without its unit: "e2e_p99" of e2e_p99_ns. publish_mb_s keeps its unit, which distinguishes it from
// publish_rate. sustainable_low is "sustainable".
func (m Metric) Short() string {
	if strings.HasSuffix(m.Key, "_mb_s") {
		return m.Key
	}
	for _, suffix := range []string{"_s_per_million", "_ns", "_bytes", "_s", "_pct", "_low"} { // a key ends with at most one of them
		if short, ok := strings.CutSuffix(m.Key, suffix); ok {
			return short
		}
	}
	return m.Key
}

// headed is m with a shorter name over its column, in up to two lines.
func (m Metric) headed(head string) Metric {
	m.Head = head
	return m
}

// documented is m with words for schemas.
func (m Metric) documented(doc string) Metric {
	m.Doc = doc
	return m
}

// Column is the column of a table that shows a metric. It panics if the key is unknown.
func Column(key string) document.Column {
	m := MustMetric(key)
	return document.Column{Key: key, Name: cmp.Or(m.Head, m.Name), Unit: m.Unit}
}

// Values are the values of m in records, unknown ones left out.
func (m Metric) Values(records []store.Record) []float64 { return knownAmong(records, m.Of) }

// Over is m over repetitions: the sum of counts, the median of everything else. Of 0, 5,000 and 0 lost messages it is 5,000;
// of latencies of 2, 9 and 3 ms it is 3 ms.
func (m Metric) Over(records []store.Record) Summary {
	values := m.Values(records)
	if m.Counts() {
		return sumOf(values)
	}
	s := Summarize(values).withMost(values, knownAmong(records, m.AtMost))
	s.ClockBound = m.ClockBound(records)
	s.Searched = m.searched
	s.TooFew = slices.ContainsFunc(records, m.tooFew)
	return s
}

// tooFew reports whether a record has too few messages for conclusions from m.
func (m Metric) tooFew(r store.Record) bool {
	return m.few != nil && r.Result != nil && !math.IsNaN(m.Of(r)) && !m.isGiven(r) && m.few(r)
}

// Sample is the known values of m in records, with the bounds of each: from a search or a knee, from messages that never came,
// and from clocks. Values of too few messages have no bounds.
func (m Metric) Sample(records []store.Record) verdict.Sample {
	var sample verdict.Sample
	for _, r := range records {
		at := m.Of(r)
		if math.IsNaN(at) {
			continue
		}
		clock := m.ClockBound([]store.Record{r})
		v := verdict.Value{At: at, Low: max(0, at-clock), High: m.AtMost(r) + clock, Draw: r.Seed, Began: r.Began}
		if m.tooFew(r) {
			v.Low, v.High = 0, math.Inf(1)
		}
		sample = append(sample, v)
	}
	return sample
}

// knownAmong are the figures of records without unknown ones.
func knownAmong(records []store.Record, figure func(store.Record) float64) []float64 {
	return lists.Filter(lists.Map(records, figure), func(v float64) bool { return !math.IsNaN(v) })
}

// ClockBound is the largest error, either way, of a value of m in records, in nanoseconds. It is 0 unless the value is the
// difference of two agents' clocks.
func (m Metric) ClockBound(records []store.Record) float64 {
	if !m.acrossClocks {
		return 0
	}
	bound := 0.0
	for _, r := range records {
		if r.Result != nil {
			bound = max(bound, float64(r.Result.ClockBoundNs))
		}
	}
	return bound
}

// orNaN is a figure that may be missing in a record; NaN if it is.
func orNaN[N int64 | float64](figure *N) float64 {
	if figure == nil {
		return math.NaN()
	}
	return float64(*figure)
}

// divided is v divided by n; NaN if n is 0.
func divided[N int | int64](v float64, n N) float64 {
	if n == 0 {
		return math.NaN()
	}
	return v / float64(n)
}

// known is a figure of a part that may be missing in a result; NaN if it is.
func known[T any](part *T, figure func(*T) float64) float64 {
	if part == nil {
		return math.NaN()
	}
	return figure(part)
}

// knownIf is v, or NaN unless it is known.
func knownIf(known bool, v float64) float64 {
	if !known {
		return math.NaN()
	}
	return v
}

// printedUnits are the units in which publications print metrics, with their sizes in the metric's own unit, by that unit.
var printedUnits = map[unit.Unit]map[string]float64{
	unit.Nanoseconds: {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9},
	unit.Seconds:     {"ms": 1e-3, "s": 1, "min": 60},
	unit.CPUSeconds:  {"s": 1},
	unit.PerSecond:   {"/s": 1, "msg/s": 1, "k/s": 1e3, "M/s": 1e6},
	unit.Bytes:       {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
	unit.Share:       {"%": 0.01},
	unit.Factor:      {"×": 1, "x": 1},
	unit.Count:       {"messages": 1},
	unit.None:        {"%": 1, "MB/s": 1},
}

// InUnit is the size of the named unit, measured in u: that of "ms" in unit.Nanoseconds is 1e6. "" names u itself. It is an error if metrics
// in u are never printed in the named unit.
func InUnit(u unit.Unit, name string) (float64, error) {
	if name == "" {
		return 1, nil
	}
	if factor, ok := printedUnits[u][name]; ok {
		return factor, nil
	}
	return 0, fmt.Errorf("%q is no unit of it; allowed: %s", name, strings.Join(slices.Sorted(maps.Keys(printedUnits[u])), ", "))
}
