package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// data is what the front end draws (web/src/data.ts). Every statistic in it was computed by package results.
type data struct {
	Metrics     []metric      `json:"metrics"`
	Quantiles   []float64     `json:"quantiles"`
	Latencies   []string      `json:"latencies"` // whose distributions load points have
	Names       []string      `json:"names"`     // of points, in the order of their colours
	Costs       []string      `json:"costs"`     // keys of metrics
	Axes        []axis        `json:"axes"`
	Points      []point       `json:"points"`
	Levels      []drawn       `json:"levels"`
	Trials      []trial       `json:"trials,omitempty"`
	Runs        []run         `json:"runs"`
	Panels      []coursePanel `json:"panels"` // of courses over time
	RunsLeftOut int           `json:"runsLeftOut,omitempty"`
	Repeat      []repeating   `json:"repeat"`
	Lines       []string      `json:"lines"`  // Repeat points into them
	Doubts      []doubt       `json:"doubts"` // load points point into them

	doubtAt map[doubt]int // index in Doubts
}

// axis is something load points differ in.
type axis struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Numbers []number `json:"numbers,omitempty"` // magnitudes of the values; empty unless all of them have one
}

func numbers(values []float64) []number {
	var out []number
	for _, v := range values {
		out = append(out, number(v))
	}
	return out
}

type metric struct {
	Key    string `json:"key"`
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

type point struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Broker  string `json:"broker"`
	Setting string `json:"setting"`
	Load    string `json:"load"`
	Measure string `json:"measure"`
	Status  string `json:"status"`
}

// drawn is a load point with its figures.
type drawn struct {
	Point   int       `json:"p"`
	Load    string    `json:"load"`
	Rate    number    `json:"rate,omitempty"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	At      []int     `json:"at"`
	Metrics []summary `json:"m"`
	Curves  []*curve  `json:"h,omitempty"`
	Pauses  *curve    `json:"own,omitempty"`    // of the measuring machine meanwhile
	Doubts  []int     `json:"doubts,omitempty"` // indexes into data.Doubts
}

type doubt struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// trial is one step of a search: [rate, published, p50, p99], its kind and verdict.
type trial struct {
	Point   int      `json:"p"`
	Kind    string   `json:"kind"`
	Verdict string   `json:"verdict"`
	Figures []number `json:"f"`
}

// allTrials bounds the searches drawn: a page of thousands of points would show a cloud.
const allTrials = 5000

// allKinds is the number of load points up to which every kind of latency has its distribution drawn; beyond it the page
// has the first, end to end.
const allKinds = 2000

// measures are the figures of records that the page draws.
var measures = append(slices.Clone(results.Metrics), results.MustMetric("broker_disk_bytes_per_message"))

var units = map[unit.Unit]string{
	unit.None: "none", unit.Count: "count", unit.Nanoseconds: "ns", unit.Seconds: "s", unit.PerSecond: "per-second",
	unit.Bytes: "bytes", unit.CPUSeconds: "cpu-s", unit.Share: "share", unit.Factor: "factor",
}

var directions = map[results.Better]string{results.Neither: "", results.Higher: "higher", results.Lower: "lower"}

// draw fills in everything but Repeat and Lines.
func (d *data) draw(set *results.Set) {
	points, all := set.Points, results.LoadPointsOf(set.Points)
	d.Names, d.Costs = results.Names(points), results.CostMetrics
	d.Quantiles = quantiles
	for _, kind := range latencies {
		d.Latencies = append(d.Latencies, kind.Text)
	}
	d.Points, d.Levels, d.Runs, d.Panels, d.Axes, d.Doubts = []point{}, []drawn{}, []run{}, []coursePanel{}, []axis{}, []doubt{}
	pointAt := map[string]int{} // in d.Points, by ID
	for i, p := range points {
		d.Points = append(d.Points, describe(p))
		pointAt[p.ID] = i
		d.Trials = append(d.Trials, trials(i, p)...)
	}
	if len(d.Trials) > allTrials {
		d.Trials = nil
	}
	found, index := results.Axes(all)
	for _, a := range found {
		d.Axes = append(d.Axes, axis{a.Name, a.Values, numbers(a.Numbers)})
	}
	kinds := latencies
	if len(all) > allKinds {
		kinds = kinds[:1]
	}
	for i, l := range all {
		drawnPoint := drawLoadPoint(l, index[i], kinds)
		drawnPoint.Point, drawnPoint.Doubts = pointAt[l.Point.ID], d.doubtsAbout(l.Records)
		d.Levels = append(d.Levels, drawnPoint)
	}
	d.dropUnmeasured()
	runs, leftOut := d.runs(points)
	d.Runs, d.RunsLeftOut = append(d.Runs, runs...), leftOut
}

func describe(p results.Point) point {
	out := point{
		ID: p.ID, Name: p.Name, Broker: p.Product, Setting: p.Setting(), Load: p.Load(), Measure: p.Spec.Measure, Status: results.Ending(p.Status(), p.Shown()),
	}
	return out
}

// doubtsAbout lists the kinds of doubts about records, in the words of the first of each, as indexes into d.Doubts.
func (d *data) doubtsAbout(records []store.Record) []int {
	var out []int
	seen := map[string]bool{}
	for _, r := range records {
		for _, of := range r.Doubts {
			one := doubt{of.Code, of.Text}
			if seen[one.Code] {
				continue
			}
			seen[one.Code] = true
			at, known := d.doubtAt[one]
			if !known {
				at = len(d.Doubts)
				d.Doubts = append(d.Doubts, one)
				if d.doubtAt == nil {
					d.doubtAt = map[doubt]int{}
				}
				d.doubtAt[one] = at
			}
			out = append(out, at)
		}
	}
	return out
}

func drawLoadPoint(l results.LoadPoint, at []int, kinds []results.LatencyKind) drawn {
	d := drawn{Load: l.Name, Status: string(l.Status), Reason: l.Why.Text, At: at, Rate: number(l.Rate)}
	if len(l.Records) == 0 {
		return d
	}
	for _, m := range measures {
		if m.Key == "sustainable_low" {
			d.Metrics = append(d.Metrics, summary{results.Sustained(l.Records).Summary})
			continue
		}
		d.Metrics = append(d.Metrics, summary{m.Over(l.Records)})
	}
	if !l.Closed {
		d.Curves, d.Pauses = curves(l.Records, kinds), ownPauses(l.Records)
	}
	return d
}

// dropUnmeasured leaves out metrics that no load point has.
func (d *data) dropUnmeasured() {
	for i, m := range measures {
		measured := false
		for _, l := range d.Levels {
			measured = measured || l.Metrics != nil && l.Metrics[i].N > 0
		}
		if measured {
			d.Metrics = append(d.Metrics, metric{m.Key, m.Name, m.About, units[m.Unit], directions[m.Better]})
			continue
		}
		d.Metrics = append(d.Metrics, metric{Key: ""}) // keeps the index of the others
	}
}

func trials(index int, p results.Point) []trial {
	var out []trial
	for _, r := range p.Shown() {
		if r.Result == nil || r.Result.Sustainable == nil {
			continue
		}
		for _, t := range r.Result.Sustainable.Trials {
			if t.Kind == "probe" {
				continue // a closed loop: its latency says nothing
			}
			out = append(out, trial{index, t.Kind, t.Verdict, []number{number(t.Rate), number(t.PublishRate), number(t.EndToEndP50), number(t.EndToEndP99)}})
		}
	}
	return out
}

// repeating holds everything needed to repeat a point: its heading and text, as lines of data.Lines.
type repeating struct {
	Heading string     `json:"heading"`
	Parts   []passages `json:"parts"`
}

// passages are a paragraph (Text) or a listing (Lines: first index, count, first index, count, …).
type passages struct {
	Text  string `json:"text,omitempty"`
	Lines []int  `json:"lines,omitempty"`
}

func (p *passages) add(line int) {
	if n := len(p.Lines); n > 0 && p.Lines[n-2]+p.Lines[n-1] == line {
		p.Lines[n-1]++
		return
	}
	p.Lines = append(p.Lines, line, 1)
}

// repeat fills in Repeat and Lines: the points report, its listings as indexes into the distinct lines of all of them,
// because specs of one study differ in two lines of seventy.
func (d *data) repeat(set *results.Set) error {
	points, err := built("points", set)
	if err != nil {
		return fmt.Errorf("what is needed to repeat the points: %w", err)
	}
	out, lines, known := []repeating{}, []string{}, map[string]int{}
	for _, b := range points.Blocks {
		if h, ok := b.(document.Heading); ok {
			out = append(out, repeating{Heading: h.Text})
			continue
		}
		if len(out) == 0 {
			continue // before the first point
		}
		last := &out[len(out)-1]
		switch b := b.(type) {
		case document.Paragraph:
			last.Parts = append(last.Parts, passages{Text: b.Text})
		case document.Warning:
			last.Parts = append(last.Parts, passages{Text: b.Text()})
		case document.Listing:
			var p passages
			for line := range strings.Lines(b.Text) {
				i, ok := known[line]
				if !ok {
					i = len(lines)
					known[line] = i
					lines = append(lines, line)
				}
				p.add(i)
			}
			last.Parts = append(last.Parts, p)
		}
	}
	d.Repeat, d.Lines = out, lines
	return nil
}
