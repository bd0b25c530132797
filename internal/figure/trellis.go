package figure

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
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
			m.panelTitles = lists.AddNew(m.panelTitles, g.Name)
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

// loadPointsWith lists the load points that have a metric, and those that would have it if they had been measured and had ended well: the
// notes name them. A rate of a curve would not have the rate that its search found.
func loadPointsWith(metric results.Metric, points []results.Point) ([]results.LoadPoint, error) {
	all := eachLoadOnce(points)
	has := func(l results.LoadPoint) bool { return len(metric.Values(l.Records)) > 0 }
	if !slices.ContainsFunc(all, has) {
		return nil, nothing("none of the loads has the metric %s", metric.Key)
	}
	return slices.DeleteFunc(slices.Clone(all), func(l results.LoadPoint) bool {
		isSameWithIt := func(o results.LoadPoint) bool { return o.RowTitle == l.RowTitle && has(o) }
		return !has(l) && l.Records != nil && (l.Used() || !slices.ContainsFunc(all, isSameWithIt))
	}), nil
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

// addDots makes the dots, and names the load points without one. If a used figure has no place on a logarithmic axis, the
// metric's axis is linear. If only unused ones have none, they are left out.
func (m *trellis) addDots(loadPoints []results.LoadPoint, positions []position) {
	var dots []dot
	for i, l := range loadPoints {
		p := positions[i]
		s := l.Over(m.metric)
		if !canDraw(l, p) || s.N == 0 {
			m.addMissing(p, string(l.Status))
			continue
		}
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

// haveOwnPlaces reports whether each of an axis's numbers has a place of its own: 0 has none on a logarithmic axis, and the values "1" and
// "1.0" have one together. An axis without numbers has no places for them.
func haveOwnPlaces(numbers []float64, s scaling) bool {
	if numbers == nil || (s == logarithmic && slices.Min(numbers) <= 0) {
		return false
	}
	return len(slices.Compact(slices.Sorted(slices.Values(numbers)))) == len(numbers)
}

// x returns where the i-th value of the axis along stands.
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
	m.missing = lists.AddNew(m.missing, fmt.Sprintf("%s (%s)", lists.Join(", ", p.line, p.panel, at), why))
}
