package results

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
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

// Metric is one figure of a record, such as the 99th percentile of its end-to-end latency. It is the same under the same key in every
// report and format. Metrics lists all of them.
type Metric struct {
	Key    string // for machines: one of the constants of this package
	Name   string // for people: "e2e p99"
	Head   string // over a column of figures, in up to two lines; empty if Name serves
	About  string // further words to Name, for pages and figures that have room for them
	Unit   unit.Unit
	Better Better

	// Histogram is the name of the LatencyKind that the metric is read from, and Statistic reads it. They are empty and nil for metrics
	// of no histogram.
	Histogram string
	Statistic func(hist.Snapshot) float64

	// measured reads the figure from a measured record, whose Result is not nil; NaN if it is not known. It is nil for counts of messages.
	measured func(store.Record) float64
	// count reads a number of messages; nil for metrics that don't count messages.
	count func(store.Books) int64
	// needsDue tells that the count is only known if the books, the counts of messages of a record, say how many were due. Those of
	// older records don't.
	needsDue bool
	// isLatency tells that the figure means nothing in a closed loop, so that Of leaves it out there.
	isLatency bool
	// asRecorded tells that Of leaves out no latency: see AsRecorded.
	asRecorded bool
	// acrossClocks tells that a value is the difference of two agents' clocks, if one agent sent and another received.
	acrossClocks bool
}

// Of is the value of m in a record; NaN if it was not measured or is not known. A published record has the values that were published
// and no others. A record of a closed loop has no latency: see study.Spec.ClosedLoop.
func (m Metric) Of(r store.Record) float64 {
	if r.Result == nil {
		return math.NaN()
	}
	if r.Kind == store.KindPublished {
		if v, ok := r.Result.Given[m.Key]; ok {
			return v
		}
		return math.NaN()
	}
	switch {
	case m.Counts() && r.Result.Books == (store.Books{}): // from a tool that doesn't count: a loss is unknown then, and not 0
		return math.NaN()
	case m.Counts():
		return m.CountIn(r.Result.Books)
	case m.isLatency && !m.asRecorded && r.Spec.ClosedLoop():
		return math.NaN()
	}
	return decimal(m.measured(r))
}

// decimal is v without the noise of binary fractions: 0.15 + 0.08 is 0.22999999999999998. It keeps 15 digits, and all of a whole number.
func decimal(v float64) float64 {
	if v == math.Trunc(v) {
		return v
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64) // always a number
	return rounded
}

// AsRecorded is m with the latency of closed loops as well, which says how full the window was. It is for formats that copy records, and
// for comparisons with publications that print such latencies.
func (m Metric) AsRecorded() Metric {
	m.asRecorded = true
	return m
}

// Latency tells that m is a latency, which closed loops don't have.
func (m Metric) Latency() bool { return m.isLatency }

// Counts tells whether m counts messages. Over repetitions counts are summed, because a loss isn't averaged away.
func (m Metric) Counts() bool { return m.count != nil }

// CountIn is the count in books, also in those of a single stream; NaN if it is not known. It panics unless m counts messages.
func (m Metric) CountIn(b store.Books) float64 {
	if m.needsDue && b.Due == 0 {
		return math.NaN()
	}
	return float64(m.count(b))
}

// Short is the key without its unit, unless the unit is what tells it from another (publish_mb_s).
func (m Metric) Short() string {
	if strings.HasSuffix(m.Key, "_mb_s") {
		return m.Key
	}
	for _, suffix := range []string{"_s_per_million", "_ns", "_bytes", "_s", "_pct", "_low"} {
		if short, ok := strings.CutSuffix(m.Key, suffix); ok {
			return short
		}
	}
	return m.Key
}

// Column is the column of a table that shows a metric. It panics if the key is unknown.
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

// Over is m over repetitions: the sum of counts, the median of everything else. Of 0, 5,000 and 0 lost messages it is 5,000; of
// latencies of 2, 9 and 3 ms it is 3 ms.
func (m Metric) Over(records []store.Record) Summary {
	values := m.Values(records)
	if !m.Counts() || len(values) == 0 {
		s := Summarize(values)
		s.ClockBound = m.ClockBound(records)
		return s
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Summary{N: len(values), Median: sum, Low: sum, High: sum, Summed: true}
}

// ClockBound is the largest error, either way, of a value of m in records, in nanoseconds. It is 0 unless the value is the difference of two
// agents' clocks.
func (m Metric) ClockBound(records []store.Record) float64 {
	bound := 0.0
	if !m.acrossClocks {
		return bound
	}
	for _, r := range records {
		if r.Result != nil {
			bound = max(bound, float64(r.Result.ClockBoundNs))
		}
	}
	return bound
}
