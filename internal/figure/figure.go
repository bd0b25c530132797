// Package figure draws stored records as SVG, PNG or PDF for papers and slides. It knows how to show
// numbers and nothing of how they were measured; package results says what they mean.
//
//	f, err := figure.Build("cost", results.Of(records), figure.Options{})
//	if err != nil { // *ErrNothing says what is missing, or too much for one figure
//		return err
//	}
//	return f.Write(file, "svg")
package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// Options say how a figure is drawn. A figure ignores options that mean nothing to it.
type Options struct {
	Title         string    // the figure's own if empty
	Width, Height vg.Length // the figure's own if 0
	Linear        bool      // linear instead of logarithmic axes, in figures that can have both
	Latency       string    // a name of results.LatencyKinds; the first if empty
	Metric        string    // heatmap, multiples: a key of results.Metrics; the points' headline if empty
	Row, Col      string    // heatmap, multiples: axes or spec paths; chosen among those that vary if empty
}

// Figure is a drawing before it is written to a file.
type Figure struct {
	Title         string
	Subtitle      string     // versions, machines and the number of repetitions
	Panels        [][]*Panel // rows of equally many columns; nil leaves a place empty
	Legend        []Entry
	Notes         []string // below the panels
	Width, Height vg.Length
}

// aroundPanels is the height around the panels of most figures: title, subtitle, a legend of the usual height and notes.
const aroundPanels = 2.6 * vg.Centimeter

// scaling returns the scaling of axes that can be linear or logarithmic.
func (o Options) scaling() scaling {
	if o.Linear {
		return linear
	}
	return logarithmic
}

// figureKind is one of the figures that can be drawn.
type figureKind struct {
	name     string
	doc      string // one line
	drawsOne bool   // one repetition of each point, however many there are
	// draw makes the panels, with room for a legend of the usual height. Build adds what all figures have.
	draw func(points []results.Point, o Options) (Figure, error)
}

var kinds = []figureKind{
	{name: "latency-throughput", doc: "latency at p50 and p99 against throughput, from curves and fixed rates", draw: latencyThroughput},
	{name: "percentiles", doc: "latency by percentile, on HdrHistogram's axis", draw: percentiles},
	{name: "timeseries", doc: "rate, backlog, latency and CPU over time, with phases and faults", draw: timeseries, drawsOne: true},
	{name: "cost", doc: "CPU and bytes written per message, and memory", draw: cost},
	{name: "sustainable", doc: "the rate each sustains, with its bracket", draw: sustainable},
	{name: "heatmap", doc: "one metric over two axes, in a panel for each value of the others", draw: heatmap},
	{name: "multiples", doc: "one metric along an axis, in a panel for each value of the others", draw: multiples},
}

// Names lists the figures.
func Names() []string { return lists.Map(kinds, func(k figureKind) string { return k.name }) }

// Doc describes the named figure in a line. It is empty for an unknown one.
func Doc(name string) string {
	if i := slices.Index(Names(), name); i >= 0 {
		return kinds[i].doc
	}
	return ""
}

// ErrNothing is the error if the records hold nothing for a figure, or too much for one.
type ErrNothing struct{ Reason string }

func (e *ErrNothing) Error() string { return e.Reason }

func nothing(format string, args ...any) error { return &ErrNothing{fmt.Sprintf(format, args...)} }

// Build makes the named figure of results. The error is an *ErrNothing if the records hold nothing to
// show, or more than fits.
func Build(name string, set *results.Set, o Options) (Figure, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return Figure{}, fmt.Errorf("unknown figure %q; known: %s", name, strings.Join(Names(), ", "))
	}
	if len(set.Records) == 0 {
		return Figure{}, nothing("there are no records to draw")
	}
	f, err := kinds[i].draw(set.Points, o)
	if err != nil {
		return Figure{}, fmt.Errorf("%s: %w", name, err)
	}
	f.Subtitle = subtitle(set.Points, kinds[i].drawsOne)
	shown := lists.Flat(set.Points, results.Point.Shown)
	if doubts := results.DoubtsNote(shown); doubts != "" {
		f.Notes = append(f.Notes, doubts)
		f.Height += 2 * smallSize // it may take two lines
	}
	return f.finished(o), nil
}

// finished returns f with what all figures have, in the asked size.
func (f Figure) finished(o Options) Figure {
	f.Title = cmp.Or(o.Title, f.Title)
	if f.hasUnused() {
		f.Legend = append(f.Legend, unusedEntry())
	}
	f.Width = cmp.Or(o.Width, f.Width)
	f.Height = cmp.Or(o.Height, f.Height+extraLegendHeight(f.Legend, f.Width-2*figureMargin))
	return f
}

// hasUnused reports whether any panel shows marks that aren't used.
func (f Figure) hasUnused() bool {
	return slices.ContainsFunc(slices.Concat(f.Panels...), func(p *Panel) bool { return p != nil && p.hasUnused })
}

// ofPanels returns a figure of panels of equal height, with at most columns of them beside each other.
func ofPanels(title string, panels []*Panel, columns int, panelHeight vg.Length) Figure {
	rows := grid(panels, columns)
	return Figure{Title: title, Panels: rows, Width: figureWidth, Height: aroundPanels + vg.Length(len(rows))*panelHeight}
}

// grid arranges panels in rows of equally many places, at most columns. Places that are left over are nil.
func grid(panels []*Panel, columns int) [][]*Panel {
	columns = max(1, min(columns, len(panels)))
	var rows [][]*Panel
	for chunk := range slices.Chunk(panels, columns) {
		row := make([]*Panel, columns)
		copy(row, chunk)
		rows = append(rows, row)
	}
	return rows
}

// maxPanels is how many panels a figure has; more would be too small to read.
const maxPanels = 12

// tooMany returns an error if n is more than most: tooMany(20, 12, "panels"). So many would be too small to read.
func tooMany(n, most int, what string) error {
	if n <= most {
		return nil
	}
	return nothing("the selection gives %d %s, a figure shows at most %d: narrow it with --where", n, what, most)
}

func listed(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }
