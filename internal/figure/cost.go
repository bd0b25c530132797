package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// costRow is one broker at one load.
type costRow struct {
	name      string
	word      string // instead of figures
	loadPoint results.LoadPoint
}

// split says how the bars of a metric are divided; those of others are of one piece.
type split struct {
	axis  string
	parts func(store.Cost) (first, second float64)
}

var splits = map[string]split{
	results.KeyBrokerCPU:    {"per message (dark: user, light: system)", func(c store.Cost) (user, system float64) { return c.BrokerUserSeconds, c.BrokerSystemSeconds }},
	results.KeyGeneratorCPU: {"per message, likewise", func(c store.Cost) (user, system float64) { return c.GeneratorUserSeconds, c.GeneratorSystemSeconds }},
}

// cost draws a row of panels for each size and guarantee: a panel for each cost.
func cost(points []results.Point, _ Options) (Figure, error) {
	names := results.Names(points)
	f := Figure{Title: "What a message costs", Width: 26 * vg.Centimeter}
	rowCount, measured := 0, false
	for _, group := range results.BySetting(points) {
		rows := costRows(group.Members)
		rowCount += len(rows)
		measured = measured || slices.ContainsFunc(rows, func(r costRow) bool { return len(r.loadPoint.Records) > 0 })
		f.Panels = append(f.Panels, costPanels(group.Name, rows, names))
	}
	if !measured {
		return Figure{}, nothing("none of the records holds what it cost")
	}
	if err := tooMany(rowCount, maxBars, "bars"); err != nil {
		return Figure{}, err
	}
	f.Height = 2.6*vg.Centimeter + vg.Length(len(f.Panels))*2*vg.Centimeter + vg.Length(rowCount)*0.6*vg.Centimeter
	f.Notes = []string{"Medians over repetitions, with their intervals. CPU time of all processes of the broker and of the load generator, " +
		"divided by confirmed messages. In parentheses: void or failed, not used."}
	return f, nil
}

// costPanels has a panel for each cost of the rows. The first has the rows' names.
func costPanels(setting string, rows []costRow, names []string) []*Panel {
	var panels []*Panel
	for _, key := range results.CostMetrics {
		var bars []bar
		for _, r := range rows {
			bars = append(bars, costBar(key, r, colourOf(slices.Index(names, r.name))))
		}
		m := results.MustMetric(key)
		u, _ := perMessage(m.Unit)
		axis := cmp.Or(splits[key].axis, m.About)
		if len(panels) == 0 {
			panels = append(panels, barsPanel(setting+": "+capital(m.Name), axis, bars, u))
		} else {
			panels = append(panels, withoutNames(barsPanel(capital(m.Name), axis, bars, u), len(bars)))
		}
	}
	return panels
}

// costRows are the loads of one panel. A curve has as many as it has rates. Curves are left out if there is any other measurement.
func costRows(points []results.Point) []costRow {
	var rows []costRow
	curves := !slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure != "curve" })
	for _, p := range points {
		if p.Spec.Measure == "curve" && !curves {
			continue
		}
		loads := p.MeasuredLoads()
		for _, l := range loads {
			rows = append(rows, costRow{name: p.Name, loadPoint: l})
		}
		if len(loads) == 0 {
			rows = append(rows, costRow{name: p.Name, word: word(p), loadPoint: results.LoadPoint{RowTitle: p.Load()}})
		}
	}
	return rows
}

// perMessage is the unit in which a price is drawn, and how many of it one of u is: CPU-seconds per million messages are
// microseconds per message.
func perMessage(u unit.Unit) (drawn unit.Unit, factor float64) {
	if u == unit.CPUSeconds {
		return unit.Nanoseconds, 1000
	}
	return u, 1
}

func costBar(key string, r costRow, colour color.RGBA) bar {
	b := bar{name: r.name + ", " + r.loadPoint.RowTitle, used: r.loadPoint.Used(), word: r.word, low: math.NaN(), high: math.NaN(), colour: colour}
	if r.word != "" {
		return b
	}
	m := results.MustMetric(key)
	_, factor := perMessage(m.Unit)
	s := m.Over(r.loadPoint.Records)
	if s.N > 1 {
		b.low, b.high = factor*s.Low, factor*s.High
	}
	b.parts = splits[key].divide(factor*s.Median, r.loadPoint.Records)
	return b
}

// divide splits a bar as the cost of all repetitions together splits. Medians of the parts would not add up to the median
// of the whole, which is what the tables show.
func (s split) divide(length float64, records []store.Record) []float64 {
	if s.parts == nil {
		return []float64{length}
	}
	var first, second float64
	for _, r := range records {
		a, b := s.parts(r.Result.Cost)
		first, second = first+a, second+b
	}
	if first+second == 0 {
		return []float64{length}
	}
	share := first / (first + second)
	return []float64{length * share, length * (1 - share)}
}
