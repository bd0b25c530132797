package results

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/lists"
)

// Axis is something in which load points differ: a setting, the broker, the load. Its values are in their natural order:
//
//	Axis{Name: "batch", Values: {"16KiB", "1MiB"}, Numbers: {16384, 1048576}}
type Axis struct {
	Name    string
	Values  []string
	Numbers []float64 // magnitudes of the values, in their order; nil unless all of them have one
}

// Place is the position of a load point on several axes: the index of its value on each, in the order of the axes. With the axes
// broker (kafka, nats) and batch (16KiB, 1MiB), {1, 0} is nats with 16KiB.
type Place []int

// Unset is the index of a load point on an axis without a value for it.
const Unset = -1

// Axes lists the axes in which load points differ, and the place of each load point on them, in the order of loadPoints.
func Axes(loadPoints []LoadPoint) ([]Axis, []Place) {
	all := allCoordinates(loadPoints)
	axes := axesThatDiffer(loadPoints, all)
	isShare := func(l LoadPoint) bool { return l.fraction.given() }
	isRate := func(l LoadPoint) bool { return !l.fraction.given() }
	for i, a := range axes {
		if a.Name == "load" && slices.ContainsFunc(loadPoints, isShare) && slices.ContainsFunc(loadPoints, isRate) {
			axes[i].Numbers = nil // 80 % of sustainable and 500/s have no common scale
		}
	}
	places := make([]Place, len(loadPoints))
	for i, c := range all {
		for _, a := range axes {
			index := Unset
			if value, ok := c.on(a.Name); ok {
				index = slices.Index(a.Values, value.text)
			}
			places[i] = append(places[i], index)
		}
	}
	return axes, places
}

// coordinates are the values of a load point by the names of their axes: broker "kafka", batch "16KiB", load "rate 1k/s".
type coordinates struct {
	own   map[string]axisValue
	study map[string]axisValue // of the axes of its study; all loads of a point share them, and they may be many
}

// on is the value on an axis.
func (c coordinates) on(axis string) (axisValue, bool) {
	if v, ok := c.study[axis]; ok {
		return v, true
	}
	v, ok := c.own[axis]
	return v, ok
}

// axisValue is a value on an axis. Equal texts on one axis have the same number.
type axisValue struct {
	text   string
	number float64 // magnitude of the text, 16384 of "16KiB"; NaN if it has none
}

// valueOf is a value with the magnitude of its text, such as "16KiB" or "5ms", if it has one.
func valueOf(text string) axisValue {
	if v, ok := Magnitude(text); ok {
		return axisValue{text: text, number: v}
	}
	return axisValue{text: text, number: math.NaN()}
}

// allCoordinates are those of load points: settings of their specs, their loads, and the axes of their studies.
func allCoordinates(loadPoints []LoadPoint) []coordinates {
	studies := map[string]map[string]axisValue{} // by the ID of a point
	return lists.Map(loadPoints, func(l LoadPoint) coordinates {
		values, known := studies[l.Point.ID]
		if !known {
			values = map[string]axisValue{}
			for name, text := range l.Point.axes() {
				if !readFromSpec[name] {
					values[name] = valueOf(text)
				}
			}
			studies[l.Point.ID] = values
		}
		return coordinates{own: ownCoordinates(l), study: values}
	})
}

// ownCoordinates are those of a load point by its spec and its load.
func ownCoordinates(l LoadPoint) map[string]axisValue {
	s := l.Point.Spec
	size := axisValue{text: s.MessageSize.Summary(), number: s.MessageSize.Mean()}
	if len(s.MessageSize) == 1 {
		size.text = sizesText(s.MessageSize)
	}
	load := valueOf(l.Name)
	if _, order := l.Offered(); order > 0 { // 0.5 for 50.0 % of sustainable: the rate itself differs from broker to broker
		load.number = order
	}
	return map[string]axisValue{
		"broker":      valueOf(l.Point.Product),
		"delivery":    valueOf(s.Delivery),
		"persistence": valueOf(s.Persistence),
		"acks":        valueOf(s.Acks),
		"replicas":    valueOf(strconv.Itoa(s.Replicas)),
		"nodes":       valueOf(strconv.Itoa(s.Nodes)),
		"messageSize": size,
		"load":        load,
	}
}

// readFromSpec are the axes of studies whose values ownCoordinates reads from the spec or from the load. Reading them from the
// study as well would show one setting twice.
var readFromSpec = map[string]bool{
	"broker": true, "version": true, // Point.Product
	"messageSize": true, "size": true,
	"delivery": true,
	"measure":  true, "load.rate": true, "rate": true, "producerRate": true, "curve.rates": true, "curve.fractions": true, // the load
}

// axesThatDiffer lists the axes on which load points have more than one value, by name. all are the coordinates of the load
// points. Settings that no study varied on purpose come last. They are left out if an axis before them splits the load points
// in the same way: acks that follow from the delivery add nothing.
func axesThatDiffer(loadPoints []LoadPoint, all []coordinates) []Axis {
	names, seen := map[string]bool{}, map[string]bool{}
	for i, c := range all {
		for name := range c.own {
			names[name] = true
		}
		if id := loadPoints[i].Point.ID; !seen[id] {
			seen[id] = true
			for name := range c.study {
				names[name] = true
			}
		}
	}
	var axes, incidental []Axis
	for _, name := range sortedKeys(names) {
		axis := axisOf(name, all)
		switch {
		case len(axis.Values) < 2: // all points with a value have the same
		case variedOnPurpose(loadPoints, name):
			axes = append(axes, axis)
		default:
			incidental = append(incidental, axis)
		}
	}
	for _, axis := range incidental {
		addsNothing := func(other Axis) bool { return splitAlike(all, other.Name, axis.Name) }
		if !slices.ContainsFunc(axes, addsNothing) {
			axes = append(axes, axis)
		}
	}
	return axes
}

// axisOf is the axis with the values that the load points with these coordinates have on it. Those without a magnitude come
// first, by name, then the others by their magnitude.
func axisOf(name string, all []coordinates) Axis {
	byText := map[string]axisValue{}
	for _, c := range all {
		if value, ok := c.on(name); ok {
			byText[value.text] = value
		}
	}
	values := slices.SortedFunc(maps.Values(byText), func(a, b axisValue) int {
		return cmp.Or(cmp.Compare(a.number, b.number), CompareNames(a.text, b.text)) // NaN is less than every number
	})
	axis := Axis{Name: name}
	for _, v := range values {
		axis.Values, axis.Numbers = append(axis.Values, v.text), append(axis.Numbers, v.number)
	}
	if slices.ContainsFunc(axis.Numbers, math.IsNaN) {
		axis.Numbers = nil
	}
	return axis
}

// variedOnPurpose reports whether a study varied an axis. Broker, load and message size are the question in every study.
func variedOnPurpose(loadPoints []LoadPoint, axis string) bool {
	if axis == "broker" || axis == "load" || axis == "messageSize" {
		return true
	}
	return slices.ContainsFunc(loadPoints, func(l LoadPoint) bool {
		_, ok := l.Point.axes()[axis]
		return ok
	})
}

// splitAlike reports whether each value of axis a goes with one value of axis b and vice versa, so that either axis alone
// distinguishes the load points. There are then as many pairs of values as there are values on each axis.
func splitAlike(all []coordinates, a, b string) bool {
	type pair struct{ a, b string }
	valuesOfA, valuesOfB, pairs := map[string]bool{}, map[string]bool{}, map[pair]bool{}
	for _, c := range all {
		valueA, _ := c.on(a) // "" without a value
		valueB, _ := c.on(b)
		valuesOfA[valueA.text], valuesOfB[valueB.text], pairs[pair{valueA.text, valueB.text}] = true, true, true
	}
	return len(pairs) == len(valuesOfA) && len(pairs) == len(valuesOfB)
}
