package figure

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
)

// trellis arranges load points as small multiples: panels that show one metric at the same scales. A load point is one
// setting under one load, over all its repetitions. The settings in which load points differ are axes, and each axis
// has one role:
//
//	along    the horizontal axis of every panel    window 1, 10, 100
//	byLine   a line for each value                 kafka, nats
//	byPanel  a panel for each value                100 B, 1 KiB
//
// Here the load point of kafka with 1 KiB and a window of 10 is a dot in the second panel, on the first line, in the
// middle.
type trellis struct {
	metric      results.Metric
	scaling     scaling // of the metric's axis
	along       results.Axis
	evenSteps   bool     // values along the axis stand at equal distances instead of at their numbers
	panelAxes   []string // names of the axes by panel
	panelTitles []string // in the order of the panels
	lineNames   []string // in the order of their colours
	hasLineAxis bool     // false: each panel has a single line, whose name is empty
	dots        []dot
	missing     []string // load points without a dot, and why: "kafka, partitions 4, at 1 KiB (void)"
}

// dot is a load point that is drawn.
type dot struct {
	position
	mark   mark
	lowest float64 // value of any repetition
}

// position says where a load point stands: {"1 KiB", "kafka", 1} in the example above.
type position struct {
	panel, line string
	value       int // index of its value on the axis along, or results.Unset
}

// newTrellis gives the axes their roles and places every load point that has the metric.
func newTrellis(points []results.Point, metric results.Metric, o Options) (*trellis, error) {
	loadPoints, err := loadPointsWith(metric, points)
	if err != nil {
		return nil, err
	}
	axes, places := results.Axes(loadPoints)
	line, along, err := chooseAxes(axes, o)
	if err != nil {
		return nil, err
	}
	s := sweep{axes: axes, places: places}
	r, positions, err := s.arrange(loadPoints, line, along)
	if err != nil {
		return nil, err
	}
	m := &trellis{
		metric: metric, scaling: o.scaling(), along: axes[r.along], panelAxes: s.names(r.byPanel),
		lineNames: s.lineNames(r), hasLineAxis: r.hasLines,
		evenSteps: !haveOwnPlaces(axes[r.along].Numbers, o.scaling()),
	}
	m.addDots(loadPoints, positions)
	for _, g := range s.groupsBy(r.byPanel) {
		if slices.ContainsFunc(m.dots, func(d dot) bool { return d.panel == g.Name }) {
			m.panelTitles = addNew(m.panelTitles, g.Name)
		}
	}
	if err := tooMany(len(m.panelTitles), maxPanels, "panels"); err != nil {
		return nil, err
	}
	if err := tooMany(len(m.lineNames), maxLines, "lines"); err != nil {
		return nil, err
	}
	return m, nil
}

// loadPointsWith lists the load points that have a metric, and those that weren't measured: the notes name them.
func loadPointsWith(metric results.Metric, points []results.Point) ([]results.LoadPoint, error) {
	var loadPoints []results.LoadPoint
	anyHas := false
	for _, l := range eachLoadOnce(points) {
		has := len(metric.Values(l.Records)) > 0
		if has || l.Records == nil {
			loadPoints = append(loadPoints, l)
		}
		anyHas = anyHas || has
	}
	if !anyHas {
		return nil, nothing("none of the loads has the metric %s", metric.Key)
	}
	return loadPoints, nil
}

// eachLoadOnce lists the load points of points. A rate of a curve that ended ok in some repetitions and failed or was void
// in others is one load point with those that ended ok, over which messages are counted with those that failed: two would
// have the same place.
func eachLoadOnce(points []results.Point) []results.LoadPoint {
	var once []results.LoadPoint
	for _, p := range points {
		measured, seen := p.MeasuredLoads(), map[string]bool{}
		for _, l := range p.LoadPoints() {
			if seen[l.RowTitle] {
				continue
			}
			seen[l.RowTitle] = true
			isSame := func(m results.LoadPoint) bool { return m.RowTitle == l.RowTitle }
			if i := slices.IndexFunc(measured, isSame); i >= 0 && measured[i].Used() {
				l = measured[i]
			}
			once = append(once, l)
		}
	}
	return once
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

// longestAxis names the axis with the most values, the first of several. An axis of numbers goes before any axis of names, and the sweep
// axis is the last choice. The name is empty if there are no axes.
func longestAxis(axes []results.Axis) string {
	longest := func(isEligible func(results.Axis) bool) string {
		name, most := "", 0
		for _, a := range axes {
			if isEligible(a) && len(a.Values) > most {
				name, most = a.Name, len(a.Values)
			}
		}
		return name
	}
	return cmp.Or(
		longest(func(a results.Axis) bool { return a.Name != sweepAxis && a.Numbers != nil }),
		longest(func(a results.Axis) bool { return a.Name != sweepAxis }),
		longest(func(results.Axis) bool { return true }),
	)
}

// roles are the axes by their roles, as indexes in the axes of a sweep.
type roles struct {
	along    int
	hasLines bool // false: each panel has a single line
	line     int  // if hasLines
	byPanel  axisList
}

// arrange gives the axes their roles, the named ones and byPanel for all others, and says where each load point stands. The sweep axis has a
// role only if load points would otherwise stand at the same position.
func (s sweep) arrange(loadPoints []results.LoadPoint, line, along string) (r roles, positions []position, err error) {
	for _, withSweep := range []bool{false, true} {
		r = roles{}
		for i, a := range s.axes {
			switch {
			case a.Name == along:
				r.along = i
			case a.Name == line:
				r.hasLines, r.line = true, i
			case a.Name != sweepAxis || withSweep:
				r.byPanel = append(r.byPanel, i)
			}
		}
		positions = s.positions(r)
		if err = checkPositions(loadPoints, positions); err == nil {
			break
		}
	}
	return r, positions, err
}

// positions say where each load point stands.
func (s sweep) positions(r roles) []position {
	var positions []position
	for _, place := range s.places {
		positions = append(positions, position{panel: s.title(r.byPanel, place), line: s.lineName(r, place), value: place[r.along]})
	}
	return positions
}

// lineName is the value of a load point on the line axis. It is empty without such an axis.
func (s sweep) lineName(r roles, place results.Place) string {
	switch {
	case !r.hasLines:
		return ""
	case place[r.line] == results.Unset:
		return "not set"
	default:
		return s.axes[r.line].Values[place[r.line]]
	}
}

// lineNames are the names of all lines in the order of the axis's values, "not set" first. A line without a dot is among them, so that a
// broker has the same colour in every figure.
func (s sweep) lineNames(r roles) []string {
	places := slices.Clone(s.places)
	if r.hasLines {
		slices.SortStableFunc(places, func(a, b results.Place) int { return cmp.Compare(a[r.line], b[r.line]) }) // Unset is less than any
	}
	var names []string
	for _, place := range places {
		names = addNew(names, s.lineName(r, place))
	}
	return names
}

// canDraw tells whether a load point was measured and has a value on the axis along.
func canDraw(l results.LoadPoint, p position) bool {
	return l.Records != nil && p.value != results.Unset
}

// checkPositions is an error if two load points would be drawn at the same position.
func checkPositions(loadPoints []results.LoadPoint, positions []position) error {
	taken := map[position]results.Point{}
	for i, l := range loadPoints {
		if !canDraw(l, positions[i]) {
			continue
		}
		if other, ok := taken[positions[i]]; ok {
			return samePlace(other, l.Point)
		}
		taken[positions[i]] = l.Point
	}
	return nil
}

// addDots makes the dots, and names the load points without one. If a used figure has no place on a logarithmic axis, the
// metric's axis is linear. If only unused ones have none, they are left out.
func (m *trellis) addDots(loadPoints []results.LoadPoint, positions []position) {
	var dots []dot
	for i, l := range loadPoints {
		p := positions[i]
		if !canDraw(l, p) {
			m.addMissing(p, string(l.Status))
			continue
		}
		s := l.Over(m.metric)
		dots = append(dots, dot{position: p, mark: summaryMark(m.x(p.value), s, l.Used()), lowest: s.Low})
	}
	if slices.ContainsFunc(dots, func(d dot) bool { return d.mark.used && d.lowest <= 0 }) {
		m.scaling = linear
	}
	for _, d := range dots {
		if m.scaling == logarithmic && d.lowest <= 0 {
			m.addMissing(d.position, m.metric.Unit.Format(d.mark.y)+", not used")
		} else {
			m.dots = append(m.dots, d)
		}
	}
}

// haveOwnPlaces tells whether each of an axis's numbers has a place of its own: 0 has none on a logarithmic axis, and the values "1" and
// "1.0" have one together. An axis without numbers has no places for them.
func haveOwnPlaces(numbers []float64, s scaling) bool {
	if numbers == nil || (s == logarithmic && slices.Min(numbers) <= 0) {
		return false
	}
	return len(slices.Compact(slices.Sorted(slices.Values(numbers)))) == len(numbers)
}

// x is where the i-th value of the axis along stands.
func (m *trellis) x(i int) float64 {
	if m.evenSteps {
		return float64(i)
	}
	return m.along.Numbers[i]
}

func (m *trellis) addMissing(p position, why string) {
	at := ""
	if p.value != results.Unset {
		at = "at " + m.along.Values[p.value]
	}
	m.missing = addNew(m.missing, fmt.Sprintf("%s (%s)", joined([]string{p.line, p.panel, at}, ", "), why))
}
