package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// costRow is what one broker used at one load, for every repetition.
type costRow struct {
	name, load string
	word       string // instead of figures
	used       bool
	costs      []store.Cost
}

// price is one column of panels: the parts of a bar, from one repetition's cost.
type price struct {
	title, axis string
	unit        unit.Unit
	of          func(store.Cost) []float64
}

// Seconds per million messages are microseconds per message.
var prices = []price{
	{"Broker CPU", "per message (dark: user, light: system)", unit.Nanoseconds, func(c store.Cost) []float64 {
		if !c.BrokerKnown || c.Messages == 0 {
			return []float64{math.NaN()}
		}
		return []float64{1000 * c.PerMillion(c.BrokerUserSeconds), 1000 * c.PerMillion(c.BrokerSystemSeconds)}
	}},
	{"Generator CPU", "per message", unit.Nanoseconds, func(c store.Cost) []float64 {
		if c.Messages == 0 {
			return []float64{math.NaN()}
		}
		return []float64{1000 * c.PerMillion(c.GeneratorUserSeconds), 1000 * c.PerMillion(c.GeneratorSystemSeconds)}
	}},
	{"Written to disk", "per message", unit.Bytes, func(c store.Cost) []float64 {
		if !c.BrokerKnown || c.Messages == 0 || c.BrokerDiskWriteBytes < 0 {
			return []float64{math.NaN()}
		}
		return []float64{float64(c.BrokerDiskWriteBytes) / float64(c.Messages)}
	}},
	{"Broker memory", "largest resident", unit.Bytes, func(c store.Cost) []float64 {
		if !c.BrokerKnown {
			return []float64{math.NaN()}
		}
		return []float64{float64(c.BrokerRSSBytes)}
	}},
}

// cost draws a row of panels for each size and guarantee.
func cost(points []results.Point, _ Options) (Figure, error) {
	names := namesOf(points)
	settings, groups := results.PointsBySetting(points)
	f := Figure{Title: "What a message costs", Width: 26 * vg.Centimeter}
	rows, measured := 0, false
	for _, setting := range settings {
		list := costRows(groups[setting])
		measured = measured || slices.ContainsFunc(list, func(r costRow) bool { return len(r.costs) > 0 })
		var panels []*Panel
		for i, pr := range prices {
			var bars []bar
			for _, r := range list {
				bars = append(bars, pr.bar(r, colourOf(slices.Index(names, r.name))))
			}
			title := pr.title
			if i == 0 {
				title = setting + ": " + pr.title
			}
			panels = append(panels, barsPanel(title, pr.axis, bars, pr.unit, i == 0))
		}
		f.Panels = append(f.Panels, panels)
		rows += len(list)
	}
	if !measured {
		return Figure{}, nothing("none of the records holds what it cost")
	}
	if err := tooMany(rows, mostBars, "bars"); err != nil {
		return Figure{}, err
	}
	f.Height = 2.6*vg.Centimeter + vg.Length(len(f.Panels))*2*vg.Centimeter + vg.Length(rows)*0.6*vg.Centimeter
	f.Notes = []string{"Medians over repetitions, with their intervals. CPU time of all processes of the broker and of the load generator, " +
		"divided by confirmed messages. In parentheses: void or failed, not used."}
	return f, nil
}

// costRows are the loads of one panel. A curve has as many as it has rates, and is left out where there is another
// measurement.
func costRows(points []results.Point) []costRow {
	var rows []costRow
	curves := !slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure != "curve" })
	for i, p := range points {
		if p.Spec.Measure == "curve" && !curves {
			continue
		}
		loads := results.MeasuredLoads(i, p)
		for _, l := range loads {
			rows = append(rows, costRow{name: p.Name, load: l.Title, used: l.Used(), costs: costsOf(l)})
		}
		if len(loads) == 0 {
			rows = append(rows, costRow{name: p.Name, load: p.Load(), word: word(p)})
		}
	}
	return rows
}

func costsOf(l results.Level) []store.Cost {
	var costs []store.Cost
	for _, r := range l.Records {
		costs = append(costs, r.Result.Cost)
	}
	return costs
}

func (pr price) bar(r costRow, colour color.RGBA) bar {
	b := bar{name: r.name + ", " + r.load, used: r.used, word: r.word, low: math.NaN(), high: math.NaN(), colour: colour}
	if r.word != "" {
		return b
	}
	var sums []float64
	var parts [][]float64
	for _, c := range r.costs {
		sum := 0.0
		for k, v := range pr.of(c) {
			if k == len(parts) {
				parts = append(parts, nil)
			}
			parts[k] = append(parts[k], v)
			sum += v
		}
		sums = append(sums, sum)
	}
	for _, values := range parts {
		b.parts = append(b.parts, results.Summarize(values).Median)
	}
	if s := results.Summarize(sums); s.N > 1 {
		b.low, b.high = s.Low, s.High
	}
	return b
}
