package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// mesh arranges load points as small multiples: panels that show one metric at the same scales. A load point is one
// setting under one load, over all its repetitions. The settings in which load points differ are axes, and each axis
// has one role:
//
//	along    the horizontal axis of every panel    window 1, 10, 100
//	byLine   a line for each value                 kafka, nats
//	byPanel  a panel for each value                100 B, 1 KiB
//
// Here the load point of kafka with 1 KiB and a window of 10 is a dot in the second panel, on the first line, in the
// middle.
type mesh struct {
	sweep                          // the axes, and places: the value of each load point on each axis
	loadPoints []results.LoadPoint // in the order of places
	metric     results.Metric
	along      int      // index in axes
	byLine     axisList // one axis at most; without one a panel has a single line
	byPanel    axisList
	evenSteps  bool    // values along the axis stand at equal distances instead of at their numbers
	metricAxis scaling // linear if that is asked for, or if a used figure has no place on a logarithmic axis

	panelTitles []string // in the order of the panels
	lineNames   []string // in the order of their colours
	dots        []dot
	missing     []string // load points without a dot, and why: "kafka, partitions 4, at 1 KiB (void)"
}

// dot is a load point that is drawn.
type dot struct {
	position
	mark mark
}

// position says where a load point stands: {"1 KiB", "kafka", 1} in the example above.
type position struct {
	panel, line string
	value       int // index of its value on the axis along, or results.Unset
}

// newMesh gives the axes their roles and places every load point that has the metric.
func newMesh(points []results.Point, metric results.Metric, o Options) (*mesh, error) {
	hasMetric := func(l results.LoadPoint) bool { return len(metric.Values(l.Records)) > 0 }
	loadPoints := slices.DeleteFunc(results.LoadPointsOf(points), func(l results.LoadPoint) bool {
		wasMeasured := l.Records != nil // others stay: the notes name them
		return wasMeasured && !hasMetric(l)
	})
	if !slices.ContainsFunc(loadPoints, hasMetric) {
		return nil, nothing("none of the loads has the metric %s", metric.Key)
	}
	axes, places := results.Axes(loadPoints)
	line, along, err := chooseAxes(axes, o)
	if err != nil {
		return nil, err
	}
	m := &mesh{sweep: sweep{axes: axes, places: places}, loadPoints: loadPoints, metric: metric}
	if err := m.assignRoles(line, along); err != nil {
		return nil, err
	}
	numbers := axes[m.along].Numbers
	m.evenSteps = numbers == nil || (o.scaling() == logarithmic && slices.Min(numbers) <= 0)
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

// assignRoles gives each axis its role. The sweep axis has none, unless load points can't be told apart without it.
// The error says that they can't be told apart even so.
func (m *mesh) assignRoles(line, along string) error {
	var sweepRole axisList
	for i, a := range m.axes {
		switch a.Name {
		case along:
			m.along = i
		case line:
			m.byLine = axisList{i}
		case sweepAxis:
			sweepRole = axisList{i}
		default:
			m.byPanel = append(m.byPanel, i)
		}
	}
	if m.clash() == nil {
		return nil
	}
	m.byPanel = append(m.byPanel, sweepRole...)
	slices.Sort(m.byPanel)
	return m.clash()
}

// chooseAxes names the axis that has a line for each value, and the one that the panels go along. Those that were asked
// for (o.Row and o.Col) must exist. Otherwise each broker has a line, and the panels go along the longest other axis.
// line is empty if there is no broker axis, or if the panels go along it.
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

// longestAxis names the axis with the most values. An axis of numbers goes before any axis of names, and the sweep axis
// is the last choice. The name is empty if there are no axes.
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

// summary is the metric of the i-th load point. ok is false if the load point can't be drawn: it was not measured, or
// it has no value on the axis along.
func (m *mesh) summary(i int) (s results.Summary, ok bool) {
	s = results.Summarize(m.metric.Values(m.loadPoints[i].Records))
	return s, s.N > 0 && m.places[i][m.along] != results.Unset
}

// clash is an error if two load points would be drawn at the same position.
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

// placeDots chooses the scaling of the metric, makes the dots, and names the load points without one.
func (m *mesh) placeDots(asked scaling) {
	m.metricAxis = asked
	for i, l := range m.loadPoints {
		s, ok := m.summary(i)
		if !ok {
			m.addMissing(m.position(i), string(l.Status))
		} else if l.Used() && s.Low <= 0 {
			m.metricAxis = linear
		}
	}
	for i, l := range m.loadPoints {
		s, ok := m.summary(i)
		if !ok {
			continue // named above
		}
		pos := m.position(i)
		if m.metricAxis == logarithmic && s.Low <= 0 {
			m.addMissing(pos, m.metric.Unit.Format(s.Median)+", not used")
			continue
		}
		placed := mark{x: m.x(pos.value), y: s.Median, low: s.Low, high: s.High, used: l.Used()}
		m.dots = append(m.dots, dot{position: pos, mark: placed})
	}
}

// x is where the i-th value of the axis along stands.
func (m *mesh) x(i int) float64 {
	if m.evenSteps {
		return float64(i)
	}
	return m.axes[m.along].Numbers[i]
}

func (m *mesh) addMissing(p position, why string) {
	names := withoutEmpty([]string{p.line, p.panel})
	if p.value != results.Unset {
		names = append(names, "at "+m.axes[m.along].Values[p.value])
	}
	m.missing = addNew(m.missing, fmt.Sprintf("%s (%s)", strings.Join(names, ", "), why))
}

// nameParts lists the panels and the lines in the order of their axes' values. It leaves out panels without a dot.
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

// lineName is the value on the line axis: "kafka". It is empty if panels have a single line.
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
