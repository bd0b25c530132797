package results

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/unit"
)

// Axis is something load points differ in; its values are in their natural order.
type Axis struct {
	Name    string
	Values  []string
	Numbers []float64 // magnitudes of the values; nil unless all of them have one
}

// fromSpec are names under which studies vary settings that coordinates reads from the spec or the load, so that each has one name.
var fromSpec = map[string]bool{
	"broker": true, "version": true, "messageSize": true, "size": true, "delivery": true, "measure": true, "load.rate": true, "rate": true, "producerRate": true,
	"curve.rates": true, "curve.fractions": true,
}

// value is the place of a load point on an axis. Its number is NaN if the text has no magnitude.
type value struct {
	text   string
	number float64
}

// coordinates are the values of a load point on every axis.
func coordinates(l LoadPoint) map[string]value {
	p, s := l.Point, l.Point.Spec
	at := map[string]value{
		"broker": {p.Product, math.NaN()}, "delivery": {s.Delivery, math.NaN()}, "persistence": {s.Persistence, math.NaN()}, "acks": {s.Acks, math.NaN()},
		"replicas": magnitude(strconv.Itoa(s.Replicas)), "nodes": magnitude(strconv.Itoa(s.Nodes)),
		"messageSize": {s.MessageSize.Summary(), s.MessageSize.Mean()},
		"load":        {l.Name, math.NaN()},
	}
	if len(s.MessageSize) == 1 {
		at["messageSize"] = value{unit.Bytes.Format(s.MessageSize.Mean()), s.MessageSize.Mean()}
	}
	switch {
	case l.share > 0: // of another rate for each broker
		at["load"] = value{l.Name, l.share}
	case l.Rate > 0:
		at["load"] = value{l.Name, l.Rate}
	}
	for name, text := range p.axes() {
		if !fromSpec[name] {
			at[name] = magnitude(text)
		}
	}
	return at
}

// incidental tells that no study varied this on purpose, such as acks that follow from the delivery.
func incidental(loadPoints []LoadPoint, name string) bool {
	named := func(l LoadPoint) bool { _, ok := l.Point.axes()[name]; return ok }
	return name != "broker" && name != "load" && name != "messageSize" && !slices.ContainsFunc(loadPoints, named)
}

// sameSplit tells that each value of axis a goes with one value of axis b and the other way round, so that either axis is
// enough to tell the load points apart.
func sameSplit(at []map[string]value, a, b string) bool {
	there, back := map[string]string{}, map[string]string{}
	for _, values := range at {
		x, y := values[a].text, values[b].text
		if old, ok := there[x]; ok && old != y {
			return false
		}
		if old, ok := back[y]; ok && old != x {
			return false
		}
		there[x], back[y] = y, x
	}
	return true
}

// Axes lists the axes in which load points differ, and for every load point the index of its value on each of them; −1 if it has none.
func Axes(loadPoints []LoadPoint) ([]Axis, [][]int) {
	at := make([]map[string]value, len(loadPoints))
	for i, l := range loadPoints {
		at[i] = coordinates(l)
	}
	axes := distinguishing(loadPoints, at)
	for i := range axes {
		if axes[i].Name == "load" && mixed(loadPoints) {
			axes[i].Numbers = nil
		}
	}
	index := make([][]int, len(loadPoints))
	for i := range loadPoints {
		for _, a := range axes {
			where := -1
			if v, ok := at[i][a.Name]; ok {
				where = slices.Index(a.Values, v.text)
			}
			index[i] = append(index[i], where)
		}
	}
	return axes, index
}

// distinguishing are the axes with more than one value, by name. Settings that only follow from others come last, and are left out
// if another axis splits the load points in the same way.
func distinguishing(loadPoints []LoadPoint, at []map[string]value) []Axis {
	values := map[string]map[string]float64{}
	for _, lies := range at {
		for name, v := range lies {
			if values[name] == nil {
				values[name] = map[string]float64{}
			}
			values[name][v.text] = v.number
		}
	}
	var chosen, along []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if incidental(loadPoints, name) {
			along = append(along, name)
		} else {
			chosen = append(chosen, name)
		}
	}
	var axes []Axis
	for _, name := range slices.Concat(chosen, along) {
		redundant := func(a Axis) bool { return sameSplit(at, a.Name, name) }
		if len(values[name]) > 1 && !(slices.Contains(along, name) && slices.ContainsFunc(axes, redundant)) {
			axes = append(axes, ordered(name, values[name]))
		}
	}
	return axes
}

// mixed tells that some loads are shares of a rate and others are not.
func mixed(loadPoints []LoadPoint) bool {
	share := func(l LoadPoint) bool { return l.share > 0 }
	return slices.ContainsFunc(loadPoints, share) && slices.ContainsFunc(loadPoints, func(l LoadPoint) bool { return !share(l) })
}

// ordered sorts values without a magnitude first, by name, then the others by their magnitude.
func ordered(name string, values map[string]float64) Axis {
	a := Axis{Name: name, Values: slices.Collect(maps.Keys(values))}
	slices.SortFunc(a.Values, func(x, y string) int { return cmp.Or(cmp.Compare(values[x], values[y]), CompareNames(x, y)) })
	if math.IsNaN(values[a.Values[0]]) {
		return a
	}
	for _, text := range a.Values {
		a.Numbers = append(a.Numbers, values[text])
	}
	return a
}

// magnitude is the value of a text on an axis.
func magnitude(text string) value {
	v, ok := Magnitude(text)
	if !ok {
		v = math.NaN()
	}
	return value{text, v}
}
