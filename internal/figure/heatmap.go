// The figure "heatmap": one metric over two axes, such as brokers (rows) and message sizes (columns). A cell holds the
// median of one point, a broker with all its settings; of a count, such as lost messages, the sum. If points differ in a third axis, such as partitions, each of
// its values has a panel (see facetsOf).
//
//	         100 B    1 KiB
//	kafka   412k/s   188k/s
//	nats    315k/s  refused

package figure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// maxCells is how many rows or columns a heat map has; with more, the cells would be too small for their figures.
const maxCells = 40

// Lengths of heat maps.
const (
	cellWidth       = 2.2 * vg.Centimeter
	cellHeight      = 1.1 * vg.Centimeter
	rowNames        = 5 * vg.Centimeter   // beside the cells of a panel
	columnNames     = 1.2 * vg.Centimeter // below them
	heatTitle       = 0.5 * vg.Centimeter // of a panel, if there are several
	aroundHeat      = 2.4 * vg.Centimeter // title and legend above all panels
	roomForHeats    = 28 * vg.Centimeter  // width up to which panels stand beside each other
	leastHeatsWidth = 12 * vg.Centimeter
	mostHeatsWidth  = 30 * vg.Centimeter
	maxCellName     = 4 * vg.Centimeter
)

// heatmap draws one metric over two axes, in a panel for each combination of the values of the other axes that vary.
func heatmap(points []results.Point, o Options) (Figure, error) {
	metric, points, err := selectMetric(points, o)
	if err != nil {
		return Figure{}, err
	}
	axes, err := chooseHeatAxes(points, o)
	if err != nil {
		return Figure{}, err
	}
	facets, panelAxes, err := facetsOf(points, metric, axes)
	if err != nil {
		return Figure{}, err
	}
	panels := lists.Map(facets, func(f facet) *Panel { return f.panel(f.title, axes) })
	first := facets[0] // all have the same rows, columns and colours
	width := vg.Length(len(first.cols))*cellWidth + rowNames
	columns := max(1, min(len(facets), int(roomForHeats/width)))
	f := Figure{
		Title:  fmt.Sprintf("%s by %s and %s", results.Capital(metric.Name), axes.row, axes.col),
		Panels: grid(panels, columns),
		Width:  max(leastHeatsWidth, min(mostHeatsWidth, vg.Length(columns)*width)),
		Legend: first.legend(),
		Notes:  []string{summedOver(metric) + ". In parentheses and without colour: void or failed, not used."},
	}
	panelHeight := columnNames + vg.Length(len(first.rows))*cellHeight
	if len(facets) > 1 {
		panelHeight += heatTitle
		f.Notes[0] += " Panels: " + listed(panelAxes) + "; all have the same colours."
	}
	f.Height = aroundHeat + vg.Length(len(f.Panels))*panelHeight
	if slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure == study.MeasureCurve }) {
		f.Notes = append(f.Notes, "Of a curve: at its last rate.")
	}
	return f, nil
}

// heatAxes are the axes of a heat map: axes of studies, or spec paths.
type heatAxes struct{ row, col string }

func (a heatAxes) cellOf(p results.Point) cellKey {
	facts := p.Facts()
	return cellKey{row: facts[a.row], col: facts[a.col]}
}

// chooseHeatAxes takes the axes that were asked for (o.Row and o.Col), which must be known, and fills in the others
// from the axes that vary: first the broker, then by name.
func chooseHeatAxes(points []results.Point, o Options) (heatAxes, error) {
	swept, facts := results.Values{}, results.Values{}
	for _, p := range points {
		swept.AddAll(p.Records[0].Axes)
		facts.AddAll(p.Facts())
	}
	varying := swept.Varying()
	found, _ := results.Axes(results.LoadPointsOf(points)) // also of runs that no study has given axes
	for _, a := range found {
		if facts.Vary(a.Name) {
			varying = lists.AddNew(varying, a.Name)
		}
	}
	for _, asked := range []string{o.Row, o.Col} {
		isKnown := facts[asked] != nil || swept[asked] != nil
		if asked != "" && !isKnown {
			return heatAxes{}, nothing("no record has a setting %q; axes that vary: %s", asked, listed(varying))
		}
	}
	candidates := slices.DeleteFunc(slices.Clone(varying), func(axis string) bool {
		return axis == o.Row || axis == o.Col || axis == "measure"
	})
	if i := slices.Index(candidates, "broker"); i >= 0 {
		candidates = slices.Insert(slices.Delete(candidates, i, i+1), 0, "broker")
	}
	axes := heatAxes{row: o.Row, col: o.Col}
	if axes.row == "" && len(candidates) > 0 {
		axes.row, candidates = candidates[0], candidates[1:]
	}
	if axes.col == "" && len(candidates) > 0 {
		axes.col = candidates[0]
	}
	switch {
	case axes.row == "" || axes.col == "":
		return heatAxes{}, nothing("a heat map needs two axes that vary; there are: %s", listed(varying))
	case axes.row == axes.col:
		return heatAxes{}, nothing("row and column are the same axis, %s", axes.row)
	}
	return axes, nil
}

// summedOver returns over which repetitions a cell sums up a metric.
func summedOver(m results.Metric) string {
	if m.Counts() {
		return overRepetitions(m)
	}
	return overRepetitions(m) + " that ended ok"
}

// emptyHeat returns a heat map with the rows, the columns and the range of colours that points need, and without their cells.
func emptyHeat(points []results.Point, m results.Metric, axes heatAxes) heat {
	h := heat{metric: m, colours: colourScale{emptyRange(linear)}}
	for _, p := range points {
		cell := axes.cellOf(p)
		h.rows, h.cols = lists.AddNew(h.rows, cell.row), lists.AddNew(h.cols, cell.col)
		if len(p.Ok()) > 0 {
			h.colours.add(p.ShownLoad().Over(m).Median)
		}
	}
	slices.SortFunc(h.rows, results.CompareNames)
	slices.SortFunc(h.cols, results.CompareNames)
	return h
}

// heatCellOf returns the cell of a point: its metric over repetitions, or a word if it has none.
func heatCellOf(p results.Point, m results.Metric) heatCell {
	s := p.ShownLoad().Over(m)
	if s.N == 0 {
		return heatCell{value: math.NaN(), word: wordFor(p)}
	}
	return heatCell{value: s.Median, used: len(p.Ok()) > 0}
}
