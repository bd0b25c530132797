package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/results"
)

// metricOf is the metric that o asks for, or the one that the points were measured for.
func metricOf(points []results.Point, o Options) (results.Metric, error) {
	if m, ok := results.Headline(points[0].Spec.Measure); ok && o.Metric == "" {
		return m, nil
	}
	return results.MetricByKey(o.Metric)
}

const mostCells = 40 // rows or columns; more cells would be too small for their figures

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
	row, col, err := heatAxes(points, o.Row, o.Col)
	if err != nil {
		return Figure{}, err
	}
	heats, err := heatsOf(points, metric, row, col)
	if err != nil {
		return Figure{}, err
	}
	first := heats[0].heat
	var panels []*Panel
	for _, h := range heats {
		panels = append(panels, h.panel(col, row))
	}
	// The names of the rows take about as much as two cells and a half.
	width := vg.Length(len(first.cols))*2.2*vg.Centimeter + 5*vg.Centimeter
	beside := max(1, min(len(heats), int(28*vg.Centimeter/width)))
	f := Figure{
		Title: fmt.Sprintf("%s by %s and %s", capital(metric.Name), row, col), Panels: grid(panels, beside),
		Width:  max(12*vg.Centimeter, min(30*vg.Centimeter, vg.Length(beside)*width)),
		Legend: first.legend(),
		Notes:  []string{"Medians over repetitions that ended ok. In parentheses and without colour: void or failed, not used."},
	}
	f.Height = 2.4*vg.Centimeter + vg.Length(len(f.Panels))*(1.2*vg.Centimeter+vg.Length(len(first.rows))*1.1*vg.Centimeter)
	if len(heats) > 1 {
		f.Height += vg.Length(len(f.Panels)) * 0.5 * vg.Centimeter // their titles
		f.Notes[0] += " Panels: " + words(heats[0].names) + "; all have the same colours."
	}
	if slices.ContainsFunc(points, func(p results.Point) bool { return p.Spec.Measure == "curve" }) {
		f.Notes = append(f.Notes, "Of a curve: at its last rate.")
	}
	return f, nil
}

func capital(name string) string {
	if strings.HasPrefix(name, "e2e") {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// withMetric keeps points that have the metric, and the failed ones of the same measure.
func withMetric(points []results.Point, m results.Metric) []results.Point {
	measures := map[string]bool{}
	for _, p := range points {
		if len(m.Values(p.Shown())) > 0 {
			measures[p.Spec.Measure] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return !measures[p.Spec.Measure] })
}

// heatAxes checks the axes asked for, and chooses the others among the axes that vary.
func heatAxes(points []results.Point, row, col string) (string, string, error) {
	axes, facts := results.Values{}, results.Values{}
	for _, p := range points {
		axes.AddAll(p.Records[0].Axes)
		facts.AddAll(p.Facts())
	}
	varying := cmp.Or(strings.Join(axes.Varying(), ", "), "none")
	for _, asked := range []string{row, col} {
		if asked != "" && facts[asked] == nil && axes[asked] == nil {
			return "", "", nothing("no record has a setting %q; axes that vary: %s", asked, varying)
		}
	}
	rest := slices.DeleteFunc(axes.Varying(), func(a string) bool { return a == row || a == col || a == "measure" })
	// The broker is a row if it can be.
	slices.SortStableFunc(rest, func(a, b string) int { return cmp.Compare(last(a != "broker"), last(b != "broker")) })
	for _, axis := range []*string{&row, &col} {
		if *axis == "" && len(rest) > 0 {
			*axis, rest = rest[0], rest[1:]
		}
	}
	if row == "" || col == "" {
		return "", "", nothing("a heat map needs two axes that vary; there are: %s", varying)
	}
	if row == col {
		return "", "", nothing("row and column are the same axis, %s", row)
	}
	return row, col, nil
}

func last(b bool) int {
	if b {
		return 1
	}
	return 0
}

// heat is the plotter of the cells, rows from top to bottom.
type heat struct {
	metric     results.Metric
	rows, cols []string
	cells      map[[2]int]heatCell
	low, high  float64 // of the used cells
	log        bool
}

type heatCell struct {
	value float64
	used  bool
	word  string
}

// place holds the values of a point on two axes.
func place(p results.Point, row, col string) [2]string {
	facts := p.Facts()
	return [2]string{facts[row], facts[col]}
}

// heatFrame has the rows, the columns and the colours of points, and no cell.
func heatFrame(points []results.Point, m results.Metric, row, col string) (heat, error) {
	h := heat{metric: m, low: math.Inf(1), high: math.Inf(-1)}
	for _, p := range points {
		at := place(p, row, col)
		h.rows, h.cols = add(h.rows, at[0]), add(h.cols, at[1])
		if s := results.Summarize(m.Values(p.Shown())); s.N > 0 && len(p.Ok()) > 0 {
			h.low, h.high = math.Min(h.low, s.Median), math.Max(h.high, s.Median)
		}
	}
	byValue(h.rows)
	byValue(h.cols)
	h.log = h.low > 0 && h.high/h.low > 5
	return h, tooMany(max(len(h.rows), len(h.cols)), mostCells, "rows or columns")
}

// fill gives h the cells of points, of which no two have the same place.
func (h heat) fill(points []results.Point, row, col string) heat {
	h.cells = map[[2]int]heatCell{}
	for _, p := range points {
		at := place(p, row, col)
		cell := heatCell{value: math.NaN(), word: word(p)}
		if s := results.Summarize(h.metric.Values(p.Shown())); s.N > 0 {
			cell = heatCell{value: s.Median, used: len(p.Ok()) > 0}
		}
		h.cells[[2]int{slices.Index(h.rows, at[0]), slices.Index(h.cols, at[1])}] = cell
	}
	return h
}

func add(values []string, v string) []string {
	if slices.Contains(values, v) {
		return values
	}
	return append(values, v)
}

// byValue sorts numbers, sizes and durations by their magnitude, and everything else by its letters.
func byValue(values []string) {
	slices.SortFunc(values, func(a, b string) int {
		x, okX := results.Magnitude(a)
		y, okY := results.Magnitude(b)
		if okX && okY {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
}

func nominal(names []string, downwards bool) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, name := range names {
		at := i
		if downwards {
			at = len(names) - 1 - i
		}
		if name == "" {
			name = "not set"
		}
		ticks = append(ticks, plot.Tick{Value: float64(at), Label: cut(letters(smallSize, ink), name, 4*vg.Centimeter)})
	}
	return ticks
}

func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	places := slices.SortedFunc(maps.Keys(h.cells), func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, at := range places {
		cell := h.cells[at]
		row, col := float64(len(h.rows)-1-at[0]), float64(at[1])
		box := []vg.Point{{X: x(col - 0.5), Y: y(row - 0.5)}, {X: x(col + 0.5), Y: y(row - 0.5)}, {X: x(col + 0.5), Y: y(row + 0.5)}, {X: x(col - 0.5), Y: y(row + 0.5)}}
		fill, style := color.Color(shade), letters(bodySize, soft)
		if cell.used {
			fill = h.colour(cell.value)
			style.Color = readableOn(fill)
		}
		c.FillPolygon(fill, box)
		c.StrokeLines(draw.LineStyle{Color: color.White, Width: vg.Points(1.5)}, append(box, box[0]))
		text := cell.word
		switch {
		case text != "":
		case cell.used:
			text = h.metric.Unit.Format(cell.value)
		default:
			text = "(" + h.metric.Unit.Format(cell.value) + ")"
		}
		style.XAlign = draw.XCenter
		beside(c, style, vg.Point{X: x(col), Y: y(row)}, cut(style, text, box[1].X-box[0].X))
	}
}

var blues = sequential()

func sequential() []color.Color {
	p, err := brewer.GetPalette(brewer.TypeSequential, "Blues", 9)
	if err != nil {
		panic("figure: " + err.Error()) // its name is written above
	}
	return p.Colors()[1:]
}

// colour is darker for larger values.
func (h heat) colour(v float64) color.Color {
	if h.high <= h.low {
		return blues[2]
	}
	share := (v - h.low) / (h.high - h.low)
	if h.log {
		share = math.Log(v/h.low) / math.Log(h.high/h.low)
	}
	at := share * float64(len(blues)-1)
	i := min(int(at), len(blues)-2)
	mix := at - float64(i)
	ar, ag, ab, _ := blues[i].RGBA()
	br, bg, bb, _ := blues[i+1].RGBA()
	blend := func(a, b uint32) uint8 { return uint8((float64(a)*(1-mix) + float64(b)*mix) / 257) }
	return color.RGBA{blend(ar, br), blend(ag, bg), blend(ab, bb), 255}
}

func readableOn(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	if 0.299*float64(r)+0.587*float64(g)+0.114*float64(b) < 0.55*0xffff {
		return color.White
	}
	return ink
}

func (h heat) legend() []Entry {
	if h.high < h.low {
		return nil
	}
	entries := []Entry{{Text: h.metric.Unit.Format(h.low), Fill: h.colour(h.low)}}
	if h.high > h.low {
		middle := (h.low + h.high) / 2
		if h.log {
			middle = math.Sqrt(h.low * h.high)
		}
		entries = append(entries, Entry{Text: h.metric.Unit.Format(middle), Fill: h.colour(middle)}, Entry{Text: h.metric.Unit.Format(h.high), Fill: h.colour(h.high)})
	}
	return entries
}
