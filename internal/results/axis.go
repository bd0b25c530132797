package results

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/unit"
)

// Axis is something in which load points differ: a setting, the broker, the load. Its values are in their natural order.
type Axis struct {
	Name    string
	Values  []string
	Numbers []float64 // magnitudes of the values, in their order; nil unless all of them have one
}

// Place says where a load point lies on each of several axes: by the index of its value, in the order of the axes.
type Place []int

// Unset is the index of a load point on an axis on which it has no value.
const Unset = -1

// Axes lists the axes in which load points differ, and the place of each load point on them.
func Axes(loadPoints []LoadPoint) ([]Axis, []Place) {
	coordinates := make([]map[string]coordinate, len(loadPoints))
	for i, l := range loadPoints {
		coordinates[i] = coordinatesOf(l)
	}
	axes := distinguishing(loadPoints, coordinates)
	for i, a := range axes {
		if a.Name == "load" && sharesAndRates(loadPoints) {
			axes[i].Numbers = nil // 80 % and 500/s have no common scale
		}
	}
	places := make([]Place, len(loadPoints))
	for i := range loadPoints {
		for _, a := range axes {
			at := Unset
			if c, ok := coordinates[i][a.Name]; ok {
				at = slices.Index(a.Values, c.text)
			}
			places[i] = append(places[i], at)
		}
	}
	return axes, places
}

// coordinate is the value of a load point on one axis.
type coordinate struct {
	text   string
	number float64 // magnitude of the text; NaN if it has none
}

func textual(text string) coordinate { return coordinate{text, math.NaN()} }

// numerical has the magnitude of a text such as "16KiB" or "5ms", if it has one.
func numerical(text string) coordinate {
	v, ok := Magnitude(text)
	if !ok {
		return textual(text)
	}
	return coordinate{text, v}
}

// specAxes are the names under which studies vary settings that coordinatesOf reads from the spec or from the load. It leaves these
// axes of a record out, so that one setting isn't two axes.
var specAxes = map[string]bool{
	"broker": true, "version": true, "messageSize": true, "size": true, "delivery": true, "measure": true, "load.rate": true, "rate": true, "producerRate": true,
	"curve.rates": true, "curve.fractions": true,
}

// coordinatesOf lists the values of a load point by the names of their axes.
func coordinatesOf(l LoadPoint) map[string]coordinate {
	s := l.Point.Spec
	c := map[string]coordinate{
		"broker": textual(l.Point.Product), "delivery": textual(s.Delivery), "persistence": textual(s.Persistence), "acks": textual(s.Acks),
		"replicas": numerical(strconv.Itoa(s.Replicas)), "nodes": numerical(strconv.Itoa(s.Nodes)),
		"messageSize": {s.MessageSize.Summary(), s.MessageSize.Mean()},
		"load":        textual(l.Name),
	}
	if len(s.MessageSize) == 1 {
		c["messageSize"] = coordinate{unit.Bytes.Format(s.MessageSize.Mean()), s.MessageSize.Mean()}
	}
	switch {
	case l.share > 0: // its rate is another one for each broker
		c["load"] = coordinate{l.Name, l.share}
	case l.Rate > 0:
		c["load"] = coordinate{l.Name, l.Rate}
	}
	for name, text := range l.Point.axes() {
		if !specAxes[name] {
			c[name] = numerical(text)
		}
	}
	return c
}

// distinguishing lists the axes with more than one value, by name. Settings that no study varied on purpose come last. They are left
// out if another axis splits the load points in the same way: acks that follow from the delivery say nothing more.
func distinguishing(loadPoints []LoadPoint, coordinates []map[string]coordinate) []Axis {
	numbers := map[string]map[string]float64{} // by axis and value
	for _, c := range coordinates {
		for axis, at := range c {
			if numbers[axis] == nil {
				numbers[axis] = map[string]float64{}
			}
			numbers[axis][at.text] = at.number
		}
	}
	var varied, incidental []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		switch {
		case len(numbers[name]) < 2:
		case variedOnPurpose(loadPoints, name):
			varied = append(varied, name)
		default:
			incidental = append(incidental, name)
		}
	}
	var axes []Axis
	for _, name := range varied {
		axes = append(axes, axisOf(name, numbers[name]))
	}
	for _, name := range incidental {
		implied := func(a Axis) bool { return sameSplit(coordinates, a.Name, name) }
		if !slices.ContainsFunc(axes, implied) {
			axes = append(axes, axisOf(name, numbers[name]))
		}
	}
	return axes
}

// variedOnPurpose tells whether a study varied an axis. Broker, load and message size are the question in every study.
func variedOnPurpose(loadPoints []LoadPoint, axis string) bool {
	named := func(l LoadPoint) bool { _, ok := l.Point.axes()[axis]; return ok }
	return axis == "broker" || axis == "load" || axis == "messageSize" || slices.ContainsFunc(loadPoints, named)
}

// sameSplit tells whether each value of axis a goes with one value of axis b and the other way round, so that either axis is enough
// to tell the load points apart.
func sameSplit(coordinates []map[string]coordinate, a, b string) bool {
	bOf, aOf := map[string]string{}, map[string]string{}
	for _, c := range coordinates {
		x, y := c[a].text, c[b].text
		if known, ok := bOf[x]; ok && known != y {
			return false
		}
		if known, ok := aOf[y]; ok && known != x {
			return false
		}
		bOf[x], aOf[y] = y, x
	}
	return true
}

// sharesAndRates tells whether some loads are shares of a sustainable rate and others are not.
func sharesAndRates(loadPoints []LoadPoint) bool {
	share := func(l LoadPoint) bool { return l.share > 0 }
	notShare := func(l LoadPoint) bool { return !share(l) }
	return slices.ContainsFunc(loadPoints, share) && slices.ContainsFunc(loadPoints, notShare)
}

// axisOf sorts values: those without a magnitude first, by name, then the others by their magnitude.
func axisOf(name string, numbers map[string]float64) Axis {
	a := Axis{Name: name, Values: slices.Collect(maps.Keys(numbers))}
	slices.SortFunc(a.Values, func(x, y string) int { return cmp.Or(cmp.Compare(numbers[x], numbers[y]), CompareNames(x, y)) }) // NaN is the least
	if math.IsNaN(numbers[a.Values[0]]) {
		return a
	}
	for _, value := range a.Values {
		a.Numbers = append(a.Numbers, numbers[value])
	}
	return a
}
