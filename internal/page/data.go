// The figures of a page as JSON for the front end (web/src/data.ts), which draws and filters them. Package results
// computed every statistic. A page may hold thousands of load points, so keys are short, and values that many share
// are listed once and pointed to by their index:
//
//	{"metrics": [{"key": "e2e_p99_ns", "name": "e2e p99", "unit": "ns", "better": "lower"}, ...],
//	 "points": [{"id": "0f3c...", "name": "kafka", ...}],
//	 "levels": [{"p": 0, "load": "rate 1k/s", "m": [[4900000, 4810000, 5020000, 5], ...]}], ...}
//
// Here points[0], Kafka with all its settings, was under a load of 1000 messages/s in 5 repetitions. Its metrics[0]
// was between 4.81 and 5.02 ms, with a median of 4.90 ms.

package page

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// figureData is all that the front end draws. It writes empty lists as [], never as null, unless they have omitempty.
type figureData struct {
	Metrics    []metric    `json:"metrics"`   // in the order of loadPoint.Metrics
	Quantiles  []float64   `json:"quantiles"` // at which every curve has a value
	Latencies  []string    `json:"latencies"` // kinds of latency, in the order of loadPoint.Curves
	Names      []string    `json:"names"`     // of points, in the order of their colours
	Costs      []string    `json:"costs"`     // keys of the metrics of costs per message
	Axes       []axis      `json:"axes"`      // in the order of loadPoint.At
	Points     []point     `json:"points"`
	LoadPoints []loadPoint `json:"levels"`
	Trials     []trial     `json:"trials,omitempty"`
	runList
	Doubts []doubted `json:"doubts"` // that loadPoint.Doubts point to
	instructions
}

// axis is a setting in which load points differ: "batch" with the values "16KiB" and "1MiB".
type axis struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Numbers []number `json:"numbers,omitempty"` // magnitudes of the values; empty unless all of them have one
}

// metric describes a figure of load points, such as their 99th percentile of latency.
type metric struct {
	Key    string `json:"key"` // empty if no load point has it
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	Unit   string `json:"unit"`   // one of unitNames
	Better string `json:"better"` // one of directionNames
}

// point is a broker with one complete set of settings.
type point struct {
	ID      string `json:"id"`
	Name    string `json:"name"`    // "kafka linger=5"
	Broker  string `json:"broker"`  // "kafka@4.1"
	Setting string `json:"setting"` // "1 KiB, at-least-once"
	Load    string `json:"load"`    // "curve"
	Measure string `json:"measure"` // kind of measurement, as in a spec
	Status  string `json:"status"`
}

// loadPoint is a point under one load, over its repetitions. A curve of 1k/s and 2k/s makes two.
type loadPoint struct {
	Point      int           `json:"p"`              // index in figureData.Points
	Load       string        `json:"load"`           // "rate 1k/s"
	Rate       number        `json:"rate,omitempty"` // offered messages per second; 0 if that was not constant
	Status     string        `json:"status"`
	RateMissed bool          `json:"missed,omitempty"`
	Reason     string        `json:"reason,omitempty"` // why it didn't end ok
	At         results.Place `json:"at"`               // its values on figureData.Axes
	Metrics    []summary     `json:"m"`                // in the order of figureData.Metrics; nil if nothing was measured
	Curves     []*curve      `json:"h,omitempty"`      // in the order of figureData.Latencies
	Pauses     *curve        `json:"own,omitempty"`    // of the measuring machine meanwhile
	Doubts     []int         `json:"doubts,omitempty"` // indexes in figureData.Doubts
}

// doubted is a reason why figures deserve less trust.
type doubted struct {
	Class string `json:"class"` // "generator"
	Text  string `json:"text"`
}

// trial is one step of the search for a sustainable rate: one rate, offered for a while, which passed or failed.
type trial struct {
	Point   int      `json:"p"`       // index in figureData.Points
	Kind    string   `json:"kind"`    // short | confirm
	Verdict string   `json:"verdict"` // pass | fail | void
	Figures []number `json:"f"`       // rate, published rate, p50 and p99 of the end-to-end latency
}

// The limits keep a page of many points small enough to open.
const (
	maxTrials    = 5000 // with more, no trial is drawn: the chart would be a cloud
	maxAllCurves = 2000 // load points; with more, only the first of latencies has curves, which is end to end
)

// drawnMetrics are the figures of records that the page draws.
var drawnMetrics = append(slices.Clone(results.Metrics), results.MustMetric(results.KeyBrokerDiskPerMessage))

// unitNames are the names of units in the front end (web/src/format.ts).
var unitNames = map[unit.Unit]string{
	unit.None: "none", unit.Count: "count", unit.Nanoseconds: "ns", unit.Seconds: "s", unit.PerSecond: "per-second",
	unit.Bytes: "bytes", unit.CPUSeconds: "cpu-s", unit.Share: "share", unit.Factor: "factor",
}

// directionNames say in the front end which values of a metric are better; empty if neither are.
var directionNames = map[results.Better]string{results.Neither: "", results.Higher: "higher", results.Lower: "lower"}

// figuresOf returns the data of all figures, without the instructions how to repeat points.
func figuresOf(set *results.Set) *figureData {
	d := &figureData{
		Quantiles: quantiles, Names: results.Names(set.Points), Costs: results.CostMetrics,
		Axes: []axis{}, Points: []point{}, LoadPoints: []loadPoint{}, Trials: trialsOf(set.Points), runList: runsOf(set.Points),
	}
	d.Latencies = lists.Map(latencies, func(k results.LatencyKind) string { return k.Text })
	titles := map[string]string{} // by setting
	for _, g := range results.BySetting(set.Points) {
		titles[g.Name] = results.Title(g.Members)
	}
	pointIndexes := map[string]int{} // by ID
	for i, p := range set.Points {
		pointIndexes[p.ID] = i
		d.Points = append(d.Points, describePoint(p, titles[p.Setting()]))
	}
	loadPoints := results.LoadPointsOf(set.Points)
	axes, places := results.Axes(loadPoints)
	d.Axes = append(d.Axes, lists.Map(axes, describeAxis)...)
	kinds := latencies
	if len(loadPoints) > maxAllCurves {
		kinds = kinds[:1]
	}
	doubts := newIndexedSet[doubted]()
	for i, l := range loadPoints {
		drawn := describeLoadPoint(l, kinds)
		drawn.Point, drawn.At = pointIndexes[l.Point.ID], places[i]
		for _, found := range results.MarkedDoubts(l.Records) {
			drawn.Doubts = append(drawn.Doubts, doubts.add(doubted{Class: string(found.Kind().Class()), Text: found.Text}))
		}
		d.LoadPoints = append(d.LoadPoints, drawn)
	}
	d.Doubts = doubts.values
	d.Metrics = describeMetrics(d.LoadPoints)
	return d
}

func describePoint(p results.Point, setting string) point {
	return point{
		ID: p.ID, Name: p.Name, Broker: p.Product, Setting: setting, Load: p.Load(), Measure: p.Spec.Measure,
		Status: results.Ending(p.Status(), p.Shown()),
	}
}

func describeAxis(a results.Axis) axis {
	return axis{Name: a.Name, Values: a.Values, Numbers: lists.Map(a.Numbers, func(v float64) number { return number(v) })}
}

// describeLoadPoint describes a load point, without its indexes in figureData.
func describeLoadPoint(l results.LoadPoint, kinds []results.LatencyKind) loadPoint {
	described := loadPoint{Load: l.Name, Rate: number(l.Rate), Status: string(l.Status), RateMissed: results.RateMissed(l.Records), Reason: l.Why.Text, Metrics: metricsOf(l)}
	if len(l.Records) > 0 && !l.Closed { // a closed loop has no latency
		described.Curves, described.Pauses = curves(l.Records, kinds), ownPauses(l.Records)
	}
	return described
}

// metricsOf sums up drawnMetrics over the repetitions of a load point. It is nil if nothing was measured.
func metricsOf(l results.LoadPoint) []summary {
	if len(l.Records) == 0 {
		return nil
	}
	return lists.Map(drawnMetrics, func(m results.Metric) summary { return summary{l.Over(m)} })
}

// describeMetrics describes drawnMetrics. One that no load point has is blank, so that the others keep their indexes.
func describeMetrics(loadPoints []loadPoint) []metric {
	described := make([]metric, len(drawnMetrics))
	for i, m := range drawnMetrics {
		isMeasured := func(l loadPoint) bool { return l.Metrics != nil && l.Metrics[i].N > 0 }
		if slices.ContainsFunc(loadPoints, isMeasured) {
			described[i] = metric{
				Key: m.Key, Name: m.Name, About: m.About, Unit: unitNames[m.Unit], Better: directionNames[m.Better],
			}
		}
	}
	return described
}

// trialsOf lists the trials of all searches; none if they are more than maxTrials. Probes are left out: they are closed
// loops, whose latency says nothing.
func trialsOf(points []results.Point) []trial {
	var trials []trial
	for i, p := range points {
		for _, r := range p.Shown() {
			if r.Result == nil || r.Result.Sustainable == nil {
				continue
			}
			for _, t := range r.Result.Sustainable.Trials {
				if t.Kind != "probe" {
					figures := []number{
						number(t.Rate), number(throughputOf(t, p)), knownLatency(t.EndToEndP50, t.P50AtLeast), knownLatency(t.EndToEndP99, t.P99AtLeast),
					}
					trials = append(trials, trial{Point: i, Kind: t.Kind, Verdict: t.Verdict, Figures: figures})
				}
			}
		}
	}
	if len(trials) > maxTrials {
		return nil
	}
	return trials
}

// throughputOf returns how many messages per second of a trial came through.
func throughputOf(t store.Trial, p results.Point) float64 {
	if subscriptions := p.Spec.SubscriptionsPerTopic; subscriptions > 0 {
		return min(t.PublishRate, t.ReceiveRate/float64(subscriptions))
	}
	return t.PublishRate
}

// knownLatency returns a latency that a chart has a place for: not a lower bound.
func knownLatency(ns int64, atLeast bool) number {
	if atLeast {
		return number(math.NaN())
	}
	return number(ns)
}

// indexedSet is a list of different values, each of which has an index: adding a, b, a gives 0, 1, 0.
type indexedSet[T comparable] struct {
	values  []T
	indexes map[T]int // in values
}

func newIndexedSet[T comparable]() *indexedSet[T] {
	return &indexedSet[T]{values: []T{}, indexes: map[T]int{}}
}

// add returns the index of v, which is appended if it isn't there.
func (s *indexedSet[T]) add(v T) int {
	i, known := s.indexes[v]
	if !known {
		i = len(s.values)
		s.indexes[v] = i
		s.values = append(s.values, v)
	}
	return i
}

// number is a figure in JSON, with nine significant digits: more than a reader is ever shown, so that the front end rounds it as
// package unit would. NaN and infinity are null.
type number float64

// MarshalJSON writes the shorter of the plain form and the one with an exponent.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	short := strconv.AppendFloat(nil, float64(n), 'g', 9, 64)
	rounded, err := strconv.ParseFloat(string(short), 64)
	if err != nil {
		return nil, err
	}
	if whole := strconv.AppendFloat(nil, rounded, 'f', -1, 64); len(whole) <= len(short) {
		return whole, nil
	}
	return short, nil
}

// threeDigits rounds a figure as readers are shown it, for the thousands of dots on a line. Nothing rounds it a second time, which might
// give another figure than the store's.
func threeDigits(v float64) number {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // always a number
	return number(rounded)
}

// summary is [median, low, high, n] as JSON, the value alone if there is just one, null if there is none. Low and high include the
// errors of measurement, as in tables; a fifth element, 1, says that the median is a lower bound.
type summary struct {
	results.Summary
}

// MarshalJSON writes the shortest form.
func (s summary) MarshalJSON() ([]byte, error) {
	low, high := s.Bounds()
	switch {
	case s.N == 0:
		return []byte("null"), nil
	case s.N == 1 && low == s.Median && high == s.Median:
		return number(s.Median).MarshalJSON()
	}
	figures := []number{number(s.Median), number(low), number(high), number(s.N)}
	if s.AtLeast() {
		figures = append(figures, 1)
	}
	return json.Marshal(figures)
}
