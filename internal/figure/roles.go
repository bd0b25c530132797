// The roles of axes in small multiples. Of points that differ in broker, window and message size, each broker has a line, the panels go along
// the window, the longest axis of numbers, and there is a panel for each size:
//
//	axis     values               role
//	broker   kafka, nats          line
//	window   1, 10, 100, 1000     along
//	size     100 B, 1 KiB, 4 KiB  byPanel

package figure

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// chooseAxes names the axis that has a line for each value, and the one that the panels go along. Those that were asked
// for (o.Row and o.Col) must exist. Otherwise each broker has a line, and the panels go along the longest other axis.
// line is empty if there is no broker axis, or if the panels go along it.
func chooseAxes(axes []results.Axis, o Options) (line, along string, err error) {
	names := lists.Map(axes, func(a results.Axis) string { return a.Name })
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
	}
	return line, along, nil
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
	return lists.Map(s.places, func(place results.Place) position {
		return position{panel: s.title(r.byPanel, place), line: s.lineName(r, place), value: place[r.along]}
	})
}

// lineName returns the value of a load point on the line axis. The result is empty without such an axis.
func (s sweep) lineName(r roles, place results.Place) string {
	switch {
	case !r.hasLines:
		return ""
	case place[r.line] == results.Unset:
		return "not set"
	}
	return s.axes[r.line].Values[place[r.line]]
}

// lineNames returns the names of all lines in the order of the axis's values, "not set" first. A line without a dot is among them, so
// that a broker has the same colour in every figure.
func (s sweep) lineNames(r roles) []string {
	places := slices.Clone(s.places)
	if r.hasLines {
		slices.SortStableFunc(places, func(a, b results.Place) int { return cmp.Compare(a[r.line], b[r.line]) }) // Unset is less than any
	}
	return lists.AddNew(nil, lists.Map(places, func(p results.Place) string { return s.lineName(r, p) })...)
}

// canDraw reports whether a load point was measured and has a value on the axis along.
func canDraw(l results.LoadPoint, p position) bool {
	return l.Records != nil && p.value != results.Unset
}

// checkPositions returns an error if two load points would be drawn at the same position.
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
