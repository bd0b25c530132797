// The figures of a page as JSON for the front end (web/src/data.ts), which draws and filters them. Package results computed every
// statistic. A page may hold thousands of load points, so keys are short, and values that many share are listed once and pointed to by
// their index:
//
//	{"metrics": [{"key": "e2e_p99_ns", "name": "e2e p99", "unit": "ns", "better": "lower"}, ...],
//	 "points": [{"id": "0f3c...", "name": "kafka", ...}],
//	 "levels": [{"p": 0, "load": "rate 1k/s", "m": [[4900000, 4810000, 5020000, 5], ...]}], ...}

package page

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// data is all that the front end draws. Lists without omitempty are never null there.
type data struct {
	Metrics     []metric      `json:"metrics"`   // in the order of loadPoint.Metrics
	Quantiles   []float64     `json:"quantiles"` // of every curve
	Latencies   []string      `json:"latencies"` // in the order of loadPoint.Curves
	Names       []string      `json:"names"`     // of points, in the order of their colours
	Costs       []string      `json:"costs"`     // keys of metrics
	Axes        []axis        `json:"axes"`      // in the order of loadPoint.At
	Points      []point       `json:"points"`
	LoadPoints  []loadPoint   `json:"levels"`
	Trials      []trial       `json:"trials,omitempty"`
	Runs        []run         `json:"runs"`
	Panels      []coursePanel `json:"panels"` // of Runs
	RunsLeftOut int           `json:"runsLeftOut,omitempty"`
	Doubts      []doubt       `json:"doubts"`

	Repeat []pointInstructions `json:"repeat"`
	Lines  []string            `json:"lines"` // of the listings in Repeat
}

// axis is a setting in which load points differ.
type axis struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Numbers []number `json:"numbers,omitempty"` // magnitudes of the values; empty unless all of them have one
}

// metric describes a figure of load points.
type metric struct {
	Key    string `json:"key"` // empty if no load point has it
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

// point is a broker with one complete set of settings.
type point struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Broker  string `json:"broker"`
	Setting string `json:"setting"`
	Load    string `json:"load"`
	Measure string `json:"measure"`
	Status  string `json:"status"`
}

// loadPoint is one load of a point over its repetitions.
type loadPoint struct {
	Point   int           `json:"p"` // index in data.Points
	Load    string        `json:"load"`
	Rate    number        `json:"rate,omitempty"`
	Status  string        `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	At      results.Place `json:"at"`
	Metrics []summary     `json:"m"`                // in the order of data.Metrics; empty if nothing was measured
	Curves  []*curve      `json:"h,omitempty"`      // in the order of data.Latencies
	Pauses  *curve        `json:"own,omitempty"`    // of the measuring machine meanwhile
	Doubts  []int         `json:"doubts,omitempty"` // indexes in data.Doubts
}

// doubt is a reason why figures deserve less trust.
type doubt struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// trial is one step of a search.
type trial struct {
	Point   int      `json:"p"` // index in data.Points
	Kind    string   `json:"kind"`
	Verdict string   `json:"verdict"`
	Figures []number `json:"f"` // rate, published rate, p50 and p99 of the end-to-end latency
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

// The limits keep a page of many points small enough to open.
const (
	maxTrials    = 5000 // with more, no trial is drawn: the chart would be a cloud
	maxAllCurves = 2000 // load points; with more, only the first of latencies has curves, which is end to end
)

// drawnMetrics are the figures of records that the page draws.
var drawnMetrics = append(slices.Clone(results.Metrics), results.MustMetric(results.KeyBrokerDiskPerMessage))

// units are the names of units in the front end (web/src/format.ts).
var units = map[unit.Unit]string{
	unit.None: "none", unit.Count: "count", unit.Nanoseconds: "ns", unit.Seconds: "s", unit.PerSecond: "per-second",
	unit.Bytes: "bytes", unit.CPUSeconds: "cpu-s", unit.Share: "share", unit.Factor: "factor",
}

// directions say in the front end which values of a metric are better; empty if neither are.
var directions = map[results.Better]string{results.Neither: "", results.Higher: "higher", results.Lower: "lower"}

// figuresOf is the data of all figures, without the instructions how to repeat points.
func figuresOf(set *results.Set) *data {
	d := &data{
		Quantiles: quantiles, Names: results.Names(set.Points), Costs: results.CostMetrics,
		Axes: []axis{}, Points: []point{}, LoadPoints: []loadPoint{},
	}
	for _, kind := range latencies {
		d.Latencies = append(d.Latencies, kind.Text)
	}
	d.addPoints(set.Points)
	d.addLoadPoints(set.Points)
	d.Metrics = describeMetrics(d.LoadPoints)
	d.addRuns(set.Points)
	return d
}

// addPoints adds the points and the trials of their searches.
func (d *data) addPoints(points []results.Point) {
	for i, p := range points {
		d.Points = append(d.Points, point{
			ID: p.ID, Name: p.Name, Broker: p.Product, Setting: p.Setting(), Load: p.Load(), Measure: p.Spec.Measure,
			Status: results.Ending(p.Status(), p.Shown()),
		})
		d.Trials = append(d.Trials, trialsOf(i, p)...)
	}
	if len(d.Trials) > maxTrials {
		d.Trials = nil
	}
}

// addLoadPoints adds the load points, the settings in which they differ, and the doubts about them.
func (d *data) addLoadPoints(points []results.Point) {
	indexes := map[string]int{} // in points, by ID
	for i, p := range points {
		indexes[p.ID] = i
	}
	loadPoints := results.LoadPointsOf(points)
	kinds := latencies
	if len(loadPoints) > maxAllCurves {
		kinds = kinds[:1]
	}
	axes, places := results.Axes(loadPoints)
	for _, a := range axes {
		d.Axes = append(d.Axes, axisOf(a))
	}
	doubts := newIndexedSet[doubt]()
	for i, l := range loadPoints {
		drawn := loadPointOf(l, kinds)
		drawn.Point, drawn.At, drawn.Doubts = indexes[l.Point.ID], places[i], doubtsAbout(l.Records, doubts)
		d.LoadPoints = append(d.LoadPoints, drawn)
	}
	d.Doubts = doubts.values
}

func axisOf(a results.Axis) axis {
	out := axis{Name: a.Name, Values: a.Values}
	for _, v := range a.Numbers {
		out.Numbers = append(out.Numbers, number(v))
	}
	return out
}

// loadPointOf is a load point with its figures, and without what the page gathers of all: its Point, At and Doubts. A closed loop has no
// latency.
func loadPointOf(l results.LoadPoint, kinds []results.LatencyKind) loadPoint {
	out := loadPoint{Load: l.Name, Status: string(l.Status), Reason: l.Why.Text, Rate: number(l.Rate)}
	if len(l.Records) == 0 {
		return out
	}
	for _, m := range drawnMetrics {
		figure := m.Over(l.Records)
		if m.Key == results.KeySustainableLow {
			figure = results.Sustained(l.Records).Summary()
		}
		out.Metrics = append(out.Metrics, summary{figure})
	}
	if !l.Closed {
		out.Curves, out.Pauses = curves(l.Records, kinds), ownPauses(l.Records)
	}
	return out
}

// doubtsAbout lists the kinds of doubts about records, in the words of the first of each kind.
func doubtsAbout(records []store.Record, all *indexedSet[doubt]) []int {
	var indexes []int
	seen := map[string]bool{}
	for _, r := range records {
		for _, d := range r.Doubts {
			if !seen[d.Code] {
				seen[d.Code] = true
				indexes = append(indexes, all.add(doubt{Code: d.Code, Text: d.Text}))
			}
		}
	}
	return indexes
}

// describeMetrics describes drawnMetrics. One that no load point has is blank, so that the others keep their indexes.
func describeMetrics(loadPoints []loadPoint) []metric {
	described := make([]metric, len(drawnMetrics))
	for i, m := range drawnMetrics {
		isMeasured := func(l loadPoint) bool { return l.Metrics != nil && l.Metrics[i].N > 0 }
		if slices.ContainsFunc(loadPoints, isMeasured) {
			described[i] = metric{Key: m.Key, Name: m.Name, About: m.About, Unit: units[m.Unit], Better: directions[m.Better]}
		}
	}
	return described
}

// trialsOf lists the trials of a point's searches. Probes are left out: they are closed loops, whose latency says nothing.
func trialsOf(index int, p results.Point) []trial {
	var trials []trial
	for _, r := range p.Shown() {
		if r.Result == nil || r.Result.Sustainable == nil {
			continue
		}
		for _, t := range r.Result.Sustainable.Trials {
			if t.Kind != "probe" {
				figures := []number{number(t.Rate), number(t.PublishRate), number(t.EndToEndP50), number(t.EndToEndP99)}
				trials = append(trials, trial{Point: index, Kind: t.Kind, Verdict: t.Verdict, Figures: figures})
			}
		}
	}
	return trials
}
