package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
)

// maxCells is how many rows or columns a heat map has; with more, the cells would be too small for their figures.
const maxCells = 40

// The measures of heat maps.
const (
	cellWidth    = 2.2 * vg.Centimeter
	cellHeight   = 1.1 * vg.Centimeter
	rowNames     = 5 * vg.Centimeter   // beside the cells of a panel
	columnNames  = 1.2 * vg.Centimeter // below them
	panelTitle   = 0.5 * vg.Centimeter
	titleAndKey  = 2.4 * vg.Centimeter // above all panels
	fullWidth    = 28 * vg.Centimeter  // up to which panels stand beside each other
	leastWidth   = 12 * vg.Centimeter
	mostWidth    = 30 * vg.Centimeter
	maxLabelSize = 4 * vg.Centimeter
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
	facets, err := facetsOf(points, metric, axes)
	if err != nil {
		return Figure{}, err
	}
	first := facets[0] // all have the same rows, columns and colours
	var panels []*Panel
	for _, f := range facets {
		panels = append(panels, f.panel(axes))
	}
	width := vg.Length(len(first.cols))*cellWidth + rowNames
	columns := max(1, min(len(facets), int(fullWidth/width)))
	f := Figure{
		Title: fmt.Sprintf("%s by %s and %s", capital(metric.Name), axes.row, axes.col), Panels: grid(panels, columns),
		Width:  max(leastWidth, min(mostWidth, vg.Length(columns)*width)),
		Legend: first.legend(),
		Notes:  []string{"Medians over repetitions that ended ok. In parentheses and without colour: void or failed, not used."},
	}
	panelHeight := columnNames + vg.Length(len(first.rows))*cellHeight
	if len(facets) > 1 {
		panelHeight += panelTitle
		f.Notes[0] += " Panels: " + listed(first.held) + "; all have the same colours."
	}
	f.Height = titleAndKey + vg.Length(len(f.Panels))*panelHeight
	if slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure == "curve" }) {
		f.Notes = append(f.Notes, "Of a curve: at its last rate.")
	}
	return f, nil
}

// metricOf is the metric that the options ask for, or the one that the points were measured for.
func metricOf(points []results.Point, o Options) (results.Metric, error) {
	if m, ok := results.Headline(points[0].Spec.Measure); ok && o.Metric == "" {
		return m, nil
	}
	return results.MetricByKey(o.Metric)
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
	known := listed(varied.Varying())
	for _, asked := range []string{o.Row, o.Col} {
		if asked != "" && facts[asked] == nil && varied[asked] == nil {
			return heatAxes{}, nothing("no record has a setting %q; axes that vary: %s", asked, known)
		}
	}
	free := slices.DeleteFunc(varied.Varying(), func(a string) bool { return a == o.Row || a == o.Col || a == "measure" })
	slices.SortStableFunc(free, func(a, b string) int { return falseFirst(a != "broker", b != "broker") })
	axes := heatAxes{row: o.Row, col: o.Col}
	if axes.row == "" && len(free) > 0 {
		axes.row, free = free[0], free[1:]
	}
	if axes.col == "" && len(free) > 0 {
		axes.col = free[0]
	}
	switch {
	case axes.row == "" || axes.col == "":
		return heatAxes{}, nothing("a heat map needs two axes that vary; there are: %s", known)
	case axes.row == axes.col:
		return heatAxes{}, nothing("row and column are the same axis, %s", axes.row)
	}
	return axes, nil
}

// clearRatio is the ratio of the greatest to the least figure from which on colours follow the logarithm: on a linear scale, all but
// the greatest would look alike.
const clearRatio = 5

// emptyHeat has the rows, the columns and the colours of points, and no cell.
func emptyHeat(points []results.Point, m results.Metric, axes heatAxes) (heat, error) {
	h := heat{metric: m, low: math.Inf(1), high: math.Inf(-1)}
	for _, p := range points {
		at := axes.cellOf(p)
		h.rows, h.cols = addNew(h.rows, at.row), addNew(h.cols, at.col)
		if s := results.Summarize(m.Values(p.Ok())); s.N > 0 {
			h.low, h.high = min(h.low, s.Median), max(h.high, s.Median)
		}
	}
	sortValues(h.rows)
	sortValues(h.cols)
	h.log = h.low > 0 && h.high/h.low > clearRatio
	return h, tooMany(max(len(h.rows), len(h.cols)), maxCells, "rows or columns")
}

// filled is the heat map with the cells of points, of which no two have the same cell.
func (h heat) filled(points []results.Point, axes heatAxes) heat {
	h.cells = map[cellKey]heatCell{}
	for _, p := range points {
		cell := heatCell{value: math.NaN(), word: word(p)}
		if s := results.Summarize(h.metric.Values(p.Shown())); s.N > 0 {
			cell = heatCell{value: s.Median, used: len(p.Ok()) > 0}
		}
		h.cells[axes.cellOf(p)] = cell
	}
	return h
}

// addNew appends a value unless it is there.
func addNew(values []string, v string) []string {
	if slices.Contains(values, v) {
		return values
	}
	return append(values, v)
}

// sortValues sorts numbers, sizes and durations by their magnitude, and everything else by its letters.
func sortValues(values []string) {
	slices.SortFunc(values, func(a, b string) int {
		x, okX := results.Magnitude(a)
		y, okY := results.Magnitude(b)
		if okX && okY {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
}

// capital begins a title with a capital letter. "e2e" stays as it is.
func capital(name string) string {
	if strings.HasPrefix(name, "e2e") {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
