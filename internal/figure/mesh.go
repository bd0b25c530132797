package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// mesh places load points in small multiples. Each axis in which they differ has one role: the panels go along it, or a panel has a
// line for each of its values, or there is a panel for each of its values. Example: brokers × sizes × windows give a line for each
// broker along the window, in a panel for each size.
type mesh struct {
	sweep[results.LoadPoint]
	metric  results.Metric
	along   int      // index of the axis that the panels go along
	byLine  axisList // one axis at most; without one a panel has a single line
	byPanel axisList

	panelTitles []string // in the order of the panels
	lineNames   []string // in the order of their colours
	dots        []dot
	missing     []string // load points without a dot, and why: "kafka, partitions 4, at 1 KiB (void)"

	scales meshScales
}

// meshScales says how the axes of all panels are scaled.
type meshScales struct {
	evenSteps bool // values along the axis stand at equal distances instead of at their numbers
	along     scaling
	metric    scaling
}

// dot is a load point in the mesh.
type dot struct {
	position
	mark mark
}

// position is a place in the mesh.
type position struct {
	panel, line string
	value       int // index on the axis along, or results.Unset
}

// newMesh gives the axes their roles and places every load point that has the metric.
func newMesh(points []results.Point, m results.Metric, o Options) (*mesh, error) {
	loadPoints := comparable(results.LoadPointsOf(points), m)
	if len(loadPoints) == 0 {
		return nil, nothing("none of the records holds the metric %s", m.Key)
	}
	axes, places := results.Axes(loadPoints)
	line, along, err := chooseAxes(axes, o)
	if err != nil {
		return nil, err
	}
	mesh := &mesh{sweep: sweep[results.LoadPoint]{items: loadPoints, axes: axes, places: places}, metric: m, along: slices.IndexFunc(axes, named(along))}
	var withSweep axisList
	for i, a := range axes {
		switch a.Name {
		case along:
		case line:
			mesh.byLine = axisList{i}
		case sweepAxis:
			withSweep = append(withSweep, i)
		default:
			mesh.byPanel, withSweep = append(mesh.byPanel, i), append(withSweep, i)
		}
	}
	numbers := axes[mesh.along].Numbers
	mesh.scales = meshScales{evenSteps: numbers == nil || !o.Linear && slices.Min(numbers) <= 0, along: o.scaling()}
	if err := mesh.placeDots(o.scaling()); err != nil {
		mesh.byPanel = withSweep
		if err := mesh.placeDots(o.scaling()); err != nil {
			return nil, err
		}
	}
	mesh.nameParts()
	if err := tooMany(len(mesh.panelTitles), maxPanels, "panels"); err != nil {
		return nil, err
	}
	return mesh, tooMany(len(mesh.lineNames), maxLines, "lines")
}

// comparable keeps the load points that have the metric, and those of the same kinds of measurement that failed: they are named below
// the figure.
func comparable(loadPoints []results.LoadPoint, m results.Metric) []results.LoadPoint {
	hasMetric := func(l results.LoadPoint) bool { return len(m.Values(l.Records)) > 0 }
	measures := map[string]bool{} // kinds of measurement with the metric
	for _, l := range loadPoints {
		if hasMetric(l) {
			measures[l.Point.Spec.Measure] = true
		}
	}
	return slices.DeleteFunc(loadPoints, func(l results.LoadPoint) bool {
		failed := l.Records == nil && measures[l.Point.Spec.Measure]
		return !hasMetric(l) && !failed
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
	if len(axes) == 0 {
		return ""
	}
	return slices.MinFunc(axes, func(a, b results.Axis) int {
		return cmp.Or(
			compareBools(a.Name == sweepAxis, b.Name == sweepAxis),
			compareBools(a.Numbers == nil, b.Numbers == nil),
			cmp.Compare(len(b.Values), len(a.Values)),
		)
	}).Name
}

// placeDots makes the dots. Two load points with the same place are an error. The metric's axis is linear if that is asked for or if a
// figure that is used has no place on a logarithmic one.
func (m *mesh) placeDots(kind scaling) error {
	taken := map[position]results.LoadPoint{}
	m.dots, m.missing, m.scales.metric = nil, nil, kind
	for i, l := range m.items {
		pos := position{panel: m.title(m.byPanel, m.places[i]), line: m.lineName(m.places[i]), value: m.places[i][m.along]}
		s := results.Summarize(m.metric.Values(l.Records))
		if s.N == 0 || pos.value == results.Unset {
			m.addMissing(pos, string(l.Status))
			continue
		}
		if other, ok := taken[pos]; ok {
			return clashing(other.Point, l.Point)
		}
		taken[pos] = l
		if l.Used() && s.Low <= 0 {
			m.scales.metric = linear
		}
		m.dots = append(m.dots, dot{position: pos, mark: mark{x: m.x(pos.value), y: s.Median, low: s.Low, high: s.High, used: l.Used()}})
	}
	if m.scales.metric == linear {
		return nil
	}
	m.dots = slices.DeleteFunc(m.dots, func(d dot) bool {
		if d.mark.low > 0 {
			return false
		}
		m.addMissing(d.position, m.metric.Unit.Format(d.mark.y)+", not used")
		return true
	})
	return nil
}

// x is where the i-th value of the axis along stands.
func (m *mesh) x(i int) float64 {
	if m.scales.evenSteps {
		return float64(i)
	}
	return m.axes[m.along].Numbers[i]
}

func (m *mesh) addMissing(p position, why string) {
	names := known([]string{p.line, p.panel})
	if p.value != results.Unset {
		names = append(names, "at "+m.axes[m.along].Values[p.value])
	}
	m.missing = addNew(m.missing, fmt.Sprintf("%s (%s)", strings.Join(names, ", "), why))
}

// nameParts puts panels and lines in the order of their axes' values. Panels without a dot are left out.
func (m *mesh) nameParts() {
	for _, g := range m.groupsBy(m.byPanel) {
		if slices.ContainsFunc(m.dots, func(d dot) bool { return d.panel == g.Name }) {
			m.panelTitles = addNew(m.panelTitles, g.Name)
		}
	}
	places := slices.Clone(m.places)
	slices.SortStableFunc(places, func(a, b results.Place) int { return slices.Compare(m.byLine.of(a), m.byLine.of(b)) })
	for _, p := range places {
		m.lineNames = addNew(m.lineNames, m.lineName(p))
	}
}

// lineName is the value that a line is for. It is empty if a panel has one line.
func (m *mesh) lineName(p results.Place) string {
	if len(m.byLine) == 0 {
		return ""
	}
	axis := m.byLine[0]
	if p[axis] == results.Unset {
		return "not set"
	}
	return m.axes[axis].Values[p[axis]]
}
