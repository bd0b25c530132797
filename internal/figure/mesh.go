package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// mesh places load points in small multiples. Each axis in which they differ has one role: the panels
// go along it, or a panel has a line for each of its values, or there is a panel for each of its
// values. Example: brokers × sizes × windows give a line for each broker along the window, in a
// panel for each size.
type mesh struct {
	sweep
	loadPoints []results.LoadPoint // by the index of their places
	metric     results.Metric
	along      int      // index of the axis that the panels go along
	byLine     axisList // one axis at most; without one a panel has a single line
	byPanel    axisList
	evenSteps  bool    // values along the axis stand at equal distances instead of at their numbers
	metricAxis scaling // linear if that is asked for, or if a used figure has no place on the other

	panelTitles []string // in the order of the panels
	lineNames   []string // in the order of their colours
	dots        []dot
	missing     []string // load points without a dot, and why: "kafka, partitions 4, at 1 KiB (void)"
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
func newMesh(points []results.Point, metric results.Metric, o Options) (*mesh, error) {
	hasFigure := func(l results.LoadPoint) bool { return len(metric.Values(l.Records)) > 0 }
	loadPoints := slices.DeleteFunc(results.LoadPointsOf(points), func(l results.LoadPoint) bool {
		failed := l.Records == nil // it is named below the figure
		return !failed && !hasFigure(l)
	})
	if !slices.ContainsFunc(loadPoints, hasFigure) {
		return nil, nothing("none of the loads has the metric %s", metric.Key)
	}
	axes, places := results.Axes(loadPoints)
	line, along, err := chooseAxes(axes, o)
	if err != nil {
		return nil, err
	}
	m := &mesh{sweep: sweep{axes: axes, places: places}, loadPoints: loadPoints, metric: metric}
	for i, a := range axes {
		switch a.Name {
		case along:
			m.along = i
			m.evenSteps = a.Numbers == nil || (!o.Linear && slices.Min(a.Numbers) <= 0)
		case line:
			m.byLine = axisList{i}
		case sweepAxis: // has panels only if there is no other way
		default:
			m.byPanel = append(m.byPanel, i)
		}
	}
	isSweep := func(a results.Axis) bool { return a.Name == sweepAxis }
	if i := slices.IndexFunc(axes, isSweep); i >= 0 && axes[i].Name != along && axes[i].Name != line && m.clash() != nil {
		m.byPanel = append(m.byPanel, i)
		slices.Sort(m.byPanel)
	}
	if err := m.clash(); err != nil {
		return nil, err
	}
	m.placeDots(o.scaling())
	m.nameParts()
	if err := tooMany(len(m.panelTitles), maxPanels, "panels"); err != nil {
		return nil, err
	}
	if err := tooMany(len(m.lineNames), maxLines, "lines"); err != nil {
		return nil, err
	}
	return m, nil
}

// chooseAxes checks the axes that were asked for, and chooses the others: a line for each broker,
// along the longest other axis. line is empty if there is no broker axis, or if the panels go along
// it.
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
		isLine := func(a results.Axis) bool { return a.Name == line }
		along = longestAxis(slices.DeleteFunc(slices.Clone(axes), isLine))
	}
	switch along {
	case "":
		return "", "", nothing("small multiples need an axis that varies besides %s; there are: %s", cmp.Or(o.Row, "the broker"), listed(names))
	case line:
		return "", "", nothing("lines and axis are the same, %s", o.Col)
	default:
		return line, along, nil
	}
}

// longestAxis is the axis with the most values, one with numbers before one with names, and the sweep
// axis last. It is empty if there are no axes.
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

// position is where the i-th load point stands.
func (m *mesh) position(i int) position {
	place := m.places[i]
	return position{panel: m.title(m.byPanel, place), line: m.lineName(place), value: place[m.along]}
}

// summary is the metric of the i-th load point. ok is false if it has no dot: it has no figure, or no
// value on the axis along.
func (m *mesh) summary(i int) (s results.Summary, ok bool) {
	s = results.Summarize(m.metric.Values(m.loadPoints[i].Records))
	return s, s.N > 0 && m.places[i][m.along] != results.Unset
}

// clash is an error if two load points would have their dots in the same place.
func (m *mesh) clash() error {
	taken := map[position]results.LoadPoint{}
	for i, l := range m.loadPoints {
		if _, ok := m.summary(i); !ok {
			continue
		}
		pos := m.position(i)
		if other, ok := taken[pos]; ok {
			return samePlace(other.Point, l.Point)
		}
		taken[pos] = l
	}
	return nil
}

// placeDots makes the dots, and names the load points without one.
func (m *mesh) placeDots(asked scaling) {
	m.metricAxis = asked
	for i, l := range m.loadPoints {
		s, ok := m.summary(i)
		if !ok {
			m.addMissing(m.position(i), string(l.Status))
			continue
		}
		if l.Used() && s.Low <= 0 {
			m.metricAxis = linear
		}
		pos := m.position(i)
		m.dots = append(m.dots, dot{position: pos, mark: mark{x: m.x(pos.value), y: s.Median, low: s.Low, high: s.High, used: l.Used()}})
	}
	m.dots = slices.DeleteFunc(m.dots, func(d dot) bool {
		hasPlace := m.metricAxis == linear || d.mark.low > 0
		if !hasPlace {
			m.addMissing(d.position, m.metric.Unit.Format(d.mark.y)+", not used")
		}
		return !hasPlace
	})
}

// x is where the i-th value of the axis along stands.
func (m *mesh) x(i int) float64 {
	if m.evenSteps {
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

// nameParts puts panels and lines in the order of their axes' values. Panels without a dot are left
// out.
func (m *mesh) nameParts() {
	for _, g := range m.groupsBy(m.byPanel) {
		if slices.ContainsFunc(m.dots, func(d dot) bool { return d.panel == g.Name }) {
			m.panelTitles = addNew(m.panelTitles, g.Name)
		}
	}
	for _, g := range m.groupsBy(m.byLine) {
		m.lineNames = append(m.lineNames, m.lineName(m.places[g.Members[0]]))
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
