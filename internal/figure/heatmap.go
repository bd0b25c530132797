package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
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
	metric, err := metricOf(points, o)
	if err != nil {
		return Figure{}, err
	}
	points = withMetric(points, metric)
	if len(points) == 0 {
		return Figure{}, nothing("none of the records holds the metric %s", metric.Key)
	}
	axes, err := chooseHeatAxes(points, o)
	if err != nil {
		return Figure{}, err
	}
	facets, heldAxes, err := facetsOf(points, metric, axes)
	if err != nil {
		return Figure{}, err
	}
	first := facets[0] // all have the same rows, columns and colours
	var panels []*Panel
	for _, f := range facets {
		panels = append(panels, f.panel(f.title, axes))
	}
	width := vg.Length(len(first.cols))*cellWidth + rowNames
	columns := max(1, min(len(facets), int(roomForHeats/width)))
	f := Figure{
		Title: fmt.Sprintf("%s by %s and %s", capital(metric.Name), axes.row, axes.col), Panels: grid(panels, columns),
		Width:  max(leastHeatsWidth, min(mostHeatsWidth, vg.Length(columns)*width)),
		Legend: first.legend(),
		Notes:  []string{"Medians over repetitions that ended ok. In parentheses and without colour: void or failed, not used."},
	}
	panelHeight := columnNames + vg.Length(len(first.rows))*cellHeight
	if len(facets) > 1 {
		panelHeight += heatTitle
		f.Notes[0] += " Panels: " + listed(heldAxes) + "; all have the same colours."
	}
	f.Height = aroundHeat + vg.Length(len(f.Panels))*panelHeight
	if slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure == "curve" }) {
		f.Notes = append(f.Notes, "Of a curve: at its last rate.")
	}
	return f, nil
}

// withMetric keeps the points of each kind of measurement of which any point has the metric: those without it failed.
func withMetric(points []results.Point, m results.Metric) []results.Point {
	measures := map[string]bool{}
	for _, p := range points {
		if len(m.Values(p.Shown())) > 0 {
			measures[p.Spec.Measure] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return !measures[p.Spec.Measure] })
}

// heatAxes are the axes of a heat map: axes of studies, or spec paths.
type heatAxes struct{ row, col string }

// cellOf names the cell of a point.
func (a heatAxes) cellOf(p results.Point) cellKey {
	facts := p.Facts()
	return cellKey{row: facts[a.row], col: facts[a.col]}
}

// chooseHeatAxes checks the axes that were asked for, and chooses the others among those that vary: brokers as rows if it can.
func chooseHeatAxes(points []results.Point, o Options) (heatAxes, error) {
	varied, facts := results.Values{}, results.Values{}
	for _, p := range points {
		varied.AddAll(p.Records[0].Axes)
		facts.AddAll(p.Facts())
	}
	varying := varied.Varying()
	for _, asked := range []string{o.Row, o.Col} {
		if asked != "" && facts[asked] == nil && varied[asked] == nil {
			return heatAxes{}, nothing("no record has a setting %q; axes that vary: %s", asked, listed(varying))
		}
	}
	open := slices.DeleteFunc(slices.Clone(varying), func(a string) bool { return a == o.Row || a == o.Col || a == "measure" })
	slices.SortStableFunc(open, func(a, b string) int { return compareBools(a != "broker", b != "broker") })
	axes := heatAxes{row: o.Row, col: o.Col}
	for _, axis := range []*string{&axes.row, &axes.col} {
		if *axis == "" && len(open) > 0 {
			*axis, open = open[0], open[1:]
		}
	}
	switch {
	case axes.row == "" || axes.col == "":
		return heatAxes{}, nothing("a heat map needs two axes that vary; there are: %s", listed(varying))
	case axes.row == axes.col:
		return heatAxes{}, nothing("row and column are the same axis, %s", axes.row)
	}
	return axes, nil
}

// emptyHeat has the rows, the columns and the colours of points, and no cell.
func emptyHeat(points []results.Point, m results.Metric, axes heatAxes) (heat, error) {
	h := heat{metric: m, colours: colourScale{emptySpan()}}
	for _, p := range points {
		cell := axes.cellOf(p)
		h.rows, h.cols = addNew(h.rows, cell.row), addNew(h.cols, cell.col)
		h.colours.add(results.Summarize(m.Values(p.Ok())).Median, linear)
	}
	slices.SortFunc(h.rows, compareValues)
	slices.SortFunc(h.cols, compareValues)
	return h, tooMany(max(len(h.rows), len(h.cols)), maxCells, "rows or columns")
}

// filled is h with the cells of points, of which no two have the same cell.
func (h heat) filled(points []results.Point, axes heatAxes) heat {
	h.cells = map[cellKey]heatCell{}
	for _, p := range points {
		cell := heatCell{value: math.NaN(), word: wordFor(p)}
		if s := results.Summarize(h.metric.Values(p.Shown())); s.N > 0 {
			cell = heatCell{value: s.Median, used: len(p.Ok()) > 0}
		}
		h.cells[axes.cellOf(p)] = cell
	}
	return h
}

// compareValues orders numbers, sizes and durations by their magnitude, and everything else by its letters.
func compareValues(a, b string) int {
	x, xOK := results.Magnitude(a)
	y, yOK := results.Magnitude(b)
	if xOK && yOK {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}
