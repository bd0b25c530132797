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
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
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
	Title, Subtitle string
	Panels          [][]*Panel // rows of equally many columns; nil leaves a place empty
	Legend          []Entry
	Notes           []string // below the panels
	Width, Height   vg.Length
}

// aroundPanels is the height of what is above and below the panels of most figures: title, subtitle,
// a legend of the usual height and notes.
const aroundPanels = 2.6 * vg.Centimeter

// scaling is that of axes which can have either.
func (o Options) scaling() scaling {
	if o.Linear {
		return linear
	}
	return logarithmic
}

// kind is one of the figures that can be drawn.
type kind struct {
	name     string
	doc      string // one line
	draw     func(points []results.Point, o Options) (Figure, error)
	drawsOne bool // one repetition of each point, however many there are
}

var kinds = []kind{
	{name: "latency-throughput", doc: "latency at p50 and p99 against throughput, from curves and fixed rates", draw: latencyThroughput},
	{name: "percentiles", doc: "latency by percentile, on HdrHistogram's axis", draw: percentiles},
	{name: "timeseries", doc: "rate, backlog, latency and CPU over time, with phases and faults", draw: timeseries, drawsOne: true},
	{name: "cost", doc: "CPU and bytes written per message, and memory", draw: cost},
	{name: "sustainable", doc: "the rate each sustains, with its bracket", draw: sustainable},
	{name: "heatmap", doc: "one metric over two axes, in a panel for each value of the others", draw: heatmap},
	{name: "multiples", doc: "one metric along an axis, in a panel for each value of the others", draw: multiples},
}

// Names lists the figures.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Doc describes the named figure in a line. It is empty for an unknown one.
func Doc(name string) string { return kindNamed(name).doc }

// kindNamed has no name if there is no such figure.
func kindNamed(name string) kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return kind{}
}

// ErrNothing is the error if the records hold nothing for a figure, or too much for one.
type ErrNothing struct{ Reason string }

func (e *ErrNothing) Error() string { return e.Reason }

func nothing(format string, args ...any) error { return &ErrNothing{fmt.Sprintf(format, args...)} }

// Build makes the named figure of results. The error is an *ErrNothing if the records hold nothing to
// show, or more than fits.
func Build(name string, set *results.Set, o Options) (Figure, error) {
	k := kindNamed(name)
	if k.name == "" {
		return Figure{}, fmt.Errorf("unknown figure %q; known: %s", name, strings.Join(Names(), ", "))
	}
	if len(set.Records) == 0 {
		return Figure{}, nothing("there are no records to draw")
	}
	f, err := k.draw(set.Points, o)
	if err != nil {
		return Figure{}, fmt.Errorf("%s: %w", name, err)
	}
	if f.hasUnused() {
		f.Legend = append(f.Legend, unusedEntry())
	}
	counts := repetitionCounts(set.Points)
	if k.drawsOne {
		counts = "n = 1"
	}
	subtitle := append(circumstances(set.Points), strings.ReplaceAll(counts, " ", noBreakSpace))
	f.Subtitle = strings.Join(withoutEmpty(subtitle), " · ")
	if doubts := doubtsNote(set.Points); doubts != "" {
		f.Notes = append(f.Notes, doubts)
		f.Height += 2 * smallSize // it may take two lines
	}
	f.Title = cmp.Or(o.Title, f.Title)
	f.Width = cmp.Or(o.Width, f.Width)
	f.Height = cmp.Or(o.Height, f.Height+extraLegendHeight(f.Legend, f.Width-2*figureMargin))
	return f, nil
}

func (f Figure) hasUnused() bool {
	return slices.ContainsFunc(slices.Concat(f.Panels...), func(p *Panel) bool { return p != nil && p.hasUnused })
}

// circumstances names the versions and the machines of all points: "kafka 4.1.0, nats 2.12.1" and "Xeon, 8 cores".
func circumstances(points []results.Point) []string {
	var versions, machines []string
	for _, p := range points {
		for _, r := range p.Shown() {
			versions = addNew(versions, strings.TrimSpace(r.Spec.Broker+" "+r.Versions.Broker))
			machines = addNew(machines, machineOf(r))
		}
	}
	slices.Sort(versions)
	return []string{strings.Join(withoutEmpty(versions), ", "), strings.Join(withoutEmpty(machines), " and ")}
}

// repetitionCounts says how many repetitions of each point are shown: "n = 3 to 5". It is empty if none is.
func repetitionCounts(points []results.Point) string {
	var counts []int
	for _, p := range points {
		if n := len(p.Shown()); n > 0 {
			counts = append(counts, n)
		}
	}
	if counts == nil {
		return ""
	}
	least, most := slices.Min(counts), slices.Max(counts)
	n := fmt.Sprintf("n = %d", least)
	if least != most {
		n += fmt.Sprintf(" to %d", most)
	}
	return n
}

func withoutEmpty(texts []string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

const noBreakSpace = "\u00a0"

// machineOf describes the machine of a record. It is empty if that isn't known.
func machineOf(r store.Record) string {
	parts := []string{strings.TrimSpace(r.Host.CPU)}
	if r.Host.Cores > 0 {
		parts = append(parts, fmt.Sprintf("%d cores", r.Host.Cores))
	}
	return strings.Join(withoutEmpty(parts), ", ")
}

// doubtsNote counts the repetitions with each kind of doubt, because a figure is shown without the report and its
// footnotes: "rate-missed (1), shared-cores (2)". It is empty if there are none.
func doubtsNote(points []results.Point) string {
	repetitions, withCode := 0, map[string]int{}
	for _, p := range points {
		for _, r := range p.Shown() {
			repetitions++
			for code := range doubtCodes(r) {
				withCode[code]++
			}
		}
	}
	if len(withCode) == 0 {
		return ""
	}
	var counts []string
	for _, code := range slices.Sorted(maps.Keys(withCode)) {
		counts = append(counts, fmt.Sprintf("%s (%d)", code, withCode[code]))
	}
	return fmt.Sprintf("Doubts, by how many of the %d selected repetitions have them: %s.", repetitions, strings.Join(counts, ", "))
}

// doubtCodes are the kinds of doubt about a repetition and its loads.
func doubtCodes(r store.Record) map[string]bool {
	codes := map[string]bool{}
	for _, l := range results.Loads(r) {
		for _, d := range slices.Concat(r.Doubts, l.Record.Doubts) {
			codes[d.Code] = true
		}
	}
	return codes
}

// ofPanels is a figure of panels of equal height, with at most columns of them beside each other.
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

// tooMany is an error if a figure has more than most parts of a kind ("panels"): they would be too small to read.
func tooMany(n, most int, what string) error {
	if n <= most {
		return nil
	}
	return nothing("the selection gives %d %s, a figure shows at most %d: narrow it with --where", n, what, most)
}

func addNew(texts []string, text string) []string {
	if slices.Contains(texts, text) {
		return texts
	}
	return append(texts, text)
}

// capital begins a title with a capital letter. "e2e" stays as it is.
func capital(name string) string {
	if strings.HasPrefix(name, "e2e") {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
