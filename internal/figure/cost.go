// The figure "cost": CPU time, memory and bytes written per message. Each broker at each load is a row of bars, with a
// bar in each of the panels beside each other:
//
//	                     CPU, broker       CPU, client
//	kafka, rate 1k/s     ▇▇▇▇▒▒ 1.73 µs    ▇▇▇▇▇▒▒ 2.41 µs    (user and system time)

package figure

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// costWidth is the width of the figure: four panels beside each other.
const costWidth = 26 * vg.Centimeter

// costRow is one broker at one load.
type costRow struct {
	load results.LoadPoint
	word string // instead of figures, if nothing was measured
}

// cost draws a row of panels for each size and guarantee, with a panel for each kind of cost.
func cost(points []results.Point, _ Options) (Figure, error) {
	names := results.Names(points)
	var panels [][]*Panel
	rowCount, measured, curvesLeftOut := 0, false, 0
	for _, group := range results.BySetting(points) {
		drawn := withoutCurvesBesideOthers(group.Members)
		curvesLeftOut += len(group.Members) - len(drawn)
		rows := costRows(drawn)
		rowCount += len(rows)
		measured = measured || slices.ContainsFunc(rows, func(r costRow) bool { return r.word == "" })
		panels = append(panels, costPanels(group.Name, rows, names))
	}
	if !measured {
		return Figure{}, nothing("none of the records holds what it cost")
	}
	f, err := ofBars("What a message costs", panels, rowCount, 0.6*vg.Centimeter)
	if err != nil {
		return Figure{}, err
	}
	f.Width = costWidth
	f.Notes = []string{"Medians over repetitions, with their intervals. CPU time of all processes of the broker and of the load generator, " +
		"divided by confirmed messages. In parentheses: void or failed, not used."}
	if curvesLeftOut > 0 {
		f.Notes = append(f.Notes, "Curves measured beside other loads are left out; --where measure=curve draws them.")
	}
	return f, nil
}

// withoutCurvesBesideOthers leaves curves out if there is any other measurement: a curve has a row for each of its rates.
func withoutCurvesBesideOthers(points []results.Point) []results.Point {
	isCurve := func(p results.Point) bool { return p.Spec.Measure == study.MeasureCurve }
	if !slices.ContainsFunc(points, func(p results.Point) bool { return !isCurve(p) }) {
		return points
	}
	return slices.DeleteFunc(slices.Clone(points), isCurve)
}

// costRows returns the loads of one row of panels.
func costRows(points []results.Point) []costRow {
	var rows []costRow
	for _, p := range points {
		loads := p.MeasuredLoads()
		for _, l := range loads {
			rows = append(rows, costRow{load: l})
		}
		if len(loads) == 0 {
			rows = append(rows, costRow{load: results.LoadPoint{Point: p, RowTitle: p.Load()}, word: wordFor(p)})
		}
	}
	return rows
}

// costPanels has a panel for each kind of cost. The first has the rows' names. names are those of all points, in the order of
// their colours.
func costPanels(setting string, rows []costRow, names []string) []*Panel {
	var panels []*Panel
	for i, key := range results.CostMetrics {
		m := results.MustMetric(key)
		drawnUnit, factor := drawnIn(m.Unit)
		bars := lists.Map(rows, func(r costRow) bar { return costBar(m, factor, r, colourOf(slices.Index(names, r.load.Point.Name))) })
		p := barsPanel(results.Capital(m.Name), cmp.Or(costAxes[key], m.About), bars, drawnUnit)
		if i == 0 {
			p.Title = setting + ": " + p.Title
		} else {
			p.Plot.Y.Tick.Marker = nameTicks(slices.Repeat([]string{" "}, len(bars)))
		}
		panels = append(panels, p)
	}
	return panels
}

// costAxes are the words for CPU time, whose bars have two parts.
var costAxes = map[string]string{
	results.KeyBrokerCPU:    "per message (dark: user, light: system)",
	results.KeyGeneratorCPU: "per message, likewise",
}

// drawnIn returns the unit in which a cost is drawn, and the factor that leads there. CPU seconds per million messages
// are drawn as nanoseconds per message: 1 s per million is 1000 ns per message.
func drawnIn(u unit.Unit) (drawn unit.Unit, factor float64) {
	if u == unit.CPUSeconds {
		return unit.Nanoseconds, 1e9 / 1e6
	}
	return u, 1
}

// costBar returns the bar of one kind of cost. The factor leads to the unit in which it is drawn.
func costBar(m results.Metric, factor float64, r costRow, colour color.RGBA) bar {
	b := bar{name: r.load.Point.Name + ", " + r.load.RowTitle, colour: colour, used: r.load.Used(), word: r.word}
	if r.word != "" {
		return b
	}
	s := m.Over(r.load.Records)
	if s.N == 0 {
		return b
	}
	if s.N > 1 {
		b.interval = &interval{low: factor * s.Low, high: factor * s.High}
	}
	length := factor * s.Median
	b.parts = []float64{length}
	if share, ok := userShare(m.Key, r.load.Records); ok {
		b.parts = []float64{length * share, length * (1 - share)}
	}
	return b
}

// userShare returns the share of user time in the CPU time of all repetitions together. Medians of user and system time
// would not add up to the median of both, which the tables show. The result is not ok for other costs, and without any
// CPU time.
func userShare(key string, records []store.Record) (share float64, ok bool) {
	var user, system float64
	for _, r := range records {
		if r.Result == nil {
			continue
		}
		c := r.Result.Cost
		switch key {
		case results.KeyBrokerCPU:
			user, system = user+c.BrokerUserSeconds, system+c.BrokerSystemSeconds
		case results.KeyGeneratorCPU:
			user, system = user+c.GeneratorUserSeconds, system+c.GeneratorSystemSeconds
		}
	}
	if user+system == 0 {
		return 0, false
	}
	return user / (user + system), true
}
