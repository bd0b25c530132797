package figure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// mesh says where load points lie in small multiples: in which panel, on which line, and where along the axis of the panels. Each
// axis in which they differ has one of these roles.
type mesh struct {
	metric results.Metric
	bounds []bound // of objectives for the metric
	linear bool    // asked for; without it an axis is logarithmic if its numbers have a place on one

	axes    []results.Axis
	along   results.Axis // the axis of the panels
	byLine  []int        // of axes: the one with a line for each value; empty if a panel has one line
	byPanel []int        // of axes: those of whose values a panel holds one each

	panelTitles []string // in the order of the panels
	lineNames   []string // in the order of their colours
	dots        []dot
	missing     []string // load points that have no dot, with the reason: "kafka, 4 partitions (void)"

	evenSteps    bool // values along the axis stand at equal distances instead of at their numbers
	linearMetric bool // the metric's axis is linear
}

// dot is a load point in the mesh.
type dot struct {
	panel, line string
	mark        mark
}

// lay gives the axes their roles, and places every load point that has the metric.
func (m *mesh) lay(points []results.Point, o Options) error {
	loadPoints := m.comparable(results.LoadPointsOf(points))
	if len(loadPoints) == 0 {
		return nothing("none of the records holds the metric %s", m.metric.Key)
	}
	var places []results.Place
	m.axes, places = results.Axes(loadPoints)
	line, along, err := chooseAxes(m.axes, o)
	if err != nil {
		return err
	}
	m.along = m.axes[slices.IndexFunc(m.axes, named(along))]
	m.evenSteps = m.along.Numbers == nil || !o.Linear && slices.Min(m.along.Numbers) <= 0
	var others, withoutSweep []int
	for i, a := range m.axes {
		switch {
		case a.Name == along:
		case a.Name == line:
			m.byLine = []int{i}
		default:
			others = append(others, i)
			if a.Name != sweepAxis {
				withoutSweep = append(withoutSweep, i)
			}
		}
	}
	m.byPanel = withoutSweep
	if err = m.place(loadPoints, places); err != nil {
		m.byPanel = others
		err = m.place(loadPoints, places)
	}
	if err != nil {
		return err
	}
	m.sort(places)
	if err := tooMany(len(m.panelTitles), maxPanels, "panels"); err != nil {
		return err
	}
	return tooMany(len(m.lineNames), maxLines, "lines")
}

// sweepAxis says how a study is written. It is shown only if no other axis tells its points apart.
const sweepAxis = "sweep"

// comparable keeps the load points that have the metric, and those of the same kinds of measurement that have no record to read it
// from, because they failed: they are named below the figure.
func (m *mesh) comparable(loadPoints []results.LoadPoint) []results.LoadPoint {
	has := func(l results.LoadPoint) bool { return len(m.metric.Values(l.Records)) > 0 }
	measured := map[string]bool{} // kinds of measurement with the metric
	for _, l := range loadPoints {
		if has(l) {
			measured[l.Point.Spec.Measure] = true
		}
	}
	return slices.DeleteFunc(loadPoints, func(l results.LoadPoint) bool {
		failed := l.Records == nil && measured[l.Point.Spec.Measure]
		return !has(l) && !failed
	})
}

// chooseAxes checks the axes that were asked for, and chooses the others: a line for each broker, along the longest other axis. line is
// empty if there is no broker axis, or if the panels go along it.
func chooseAxes(axes []results.Axis, o Options) (line, along string, err error) {
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	for _, asked := range []string{o.Row, o.Col} {
		if asked != "" && !slices.Contains(names, asked) {
			return "", "", nothing("the selection doesn't vary in %q; it does in: %s", asked, listed(names))
		}
	}
	line, along = o.Row, o.Col
	if line == "" && along != "broker" && slices.Contains(names, "broker") {
		line = "broker"
	}
	if along == "" {
		along = longestAxis(slices.DeleteFunc(slices.Clone(axes), named(line)))
	}
	switch along {
	case "":
		return "", "", nothing("small multiples need an axis that varies besides %s; there are: %s", cmp.Or(o.Row, "the broker"), listed(names))
	case line:
		return "", "", nothing("lines and axis are the same, %s", o.Col)
	}
	return line, along, nil
}

func named(name string) func(results.Axis) bool {
	return func(a results.Axis) bool { return a.Name == name }
}

// longestAxis is the axis with the most values, one with numbers before one with names, and the sweep axis last. It is empty if there
// are no axes.
func longestAxis(axes []results.Axis) string {
	sorted := slices.SortedStableFunc(slices.Values(axes), func(a, b results.Axis) int {
		return cmp.Or(
			falseFirst(a.Name == sweepAxis, b.Name == sweepAxis),
			falseFirst(a.Numbers == nil, b.Numbers == nil),
			cmp.Compare(len(b.Values), len(a.Values)),
		)
	})
	if len(sorted) == 0 {
		return ""
	}
	return sorted[0].Name
}

// falseFirst orders two answers to a question.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// place makes the dots. Two load points with the same place are an error.
func (m *mesh) place(loadPoints []results.LoadPoint, places []results.Place) error {
	type position struct{ panel, line, value string }
	taken := map[position]results.LoadPoint{}
	m.dots, m.missing, m.linearMetric = nil, nil, m.linear
	along := slices.IndexFunc(m.axes, named(m.along.Name))
	for i, l := range loadPoints {
		at := places[i][along]
		panel, line := m.panelTitle(places[i]), m.lineName(places[i])
		s := results.Summarize(m.metric.Values(l.Records))
		if s.N == 0 || at == results.Unset {
			m.miss(panel, line, string(l.Status))
			continue
		}
		p := position{panel, line, m.along.Values[at]}
		if other, ok := taken[p]; ok {
			return clashing(other.Point, l.Point)
		}
		taken[p] = l
		if l.Used() && s.Low <= 0 {
			m.linearMetric = true // figures that aren't used don't decide on the scale
		}
		m.dots = append(m.dots, dot{panel, line, mark{x: m.x(at), y: s.Median, low: s.Low, high: s.High, used: l.Used()}})
	}
	if !m.linearMetric {
		m.dropDotsWithoutPlace()
	}
	return nil
}

// dropDotsWithoutPlace leaves out dots that a logarithmic axis can't show, and names them.
func (m *mesh) dropDotsWithoutPlace() {
	m.dots = slices.DeleteFunc(m.dots, func(d dot) bool {
		if d.mark.low > 0 {
			return false
		}
		m.miss(d.panel, d.line, m.metric.Unit.Format(d.mark.y)+", not used")
		return true
	})
}

func (m *mesh) miss(panel, line, why string) {
	name := strings.Join(slices.DeleteFunc([]string{line, panel}, func(s string) bool { return s == "" }), ", ")
	m.missing = addNew(m.missing, strings.TrimSpace(name+" ("+why+")"))
}

// sort puts panels and lines in the order of their axes' values. Panels without a dot are left out.
func (m *mesh) sort(places []results.Place) {
	m.panelTitles, m.lineNames = nil, nil
	for _, p := range sortedBy(places, m.byPanel) {
		title := m.panelTitle(p)
		if slices.ContainsFunc(m.dots, func(d dot) bool { return d.panel == title }) {
			m.panelTitles = addNew(m.panelTitles, title)
		}
	}
	for _, p := range sortedBy(places, append(slices.Clone(m.byLine), m.byPanel...)) {
		m.lineNames = addNew(m.lineNames, m.lineName(p))
	}
}

// sortedBy sorts places by their values on some axes, the first of them first.
func sortedBy(places []results.Place, axes []int) []results.Place {
	return slices.SortedStableFunc(slices.Values(places), func(a, b results.Place) int { return compareOn(axes, a, b) })
}

func compareOn(axes []int, a, b results.Place) int {
	for _, i := range axes {
		if order := cmp.Compare(a[i], b[i]); order != 0 {
			return order
		}
	}
	return 0
}

// panelTitle names the values that a panel holds still: "at-least-once, partitions 4".
func (m *mesh) panelTitle(p results.Place) string { return heldTitle(m.axes, m.byPanel, p) }

// lineName is the value that a line is for. It is empty if a panel has one line.
func (m *mesh) lineName(p results.Place) string {
	if len(m.byLine) == 0 {
		return ""
	}
	axis := m.byLine[0] // there is one at most
	if p[axis] == results.Unset {
		return "not set"
	}
	return m.axes[axis].Values[p[axis]]
}

// panelAxes are the names of the axes of whose values a panel holds one each.
func (m *mesh) panelAxes() []string {
	var names []string
	for _, i := range m.byPanel {
		names = append(names, m.axes[i].Name)
	}
	return names
}

func listed(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

// maxDifferences is how many differences between two points an error names.
const maxDifferences = 4

// clashing says in what two points differ that should have the same place in a figure.
func clashing(a, b results.Point) error {
	differ := results.Residue([]store.Record{a.Records[0], b.Records[0]})
	if differ == nil {
		differ = []string{"point: " + a.ID + ", " + b.ID}
	}
	return nothing("several points have the same place; they differ in %s: narrow the selection with --where",
		strings.Join(differ[:min(len(differ), maxDifferences)], "; "))
}
