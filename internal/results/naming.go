// How points are named. A name holds what tells a point from the other points of its set, and no more. Of a study of Kafka and NATS with
// two values of linger the names are "kafka linger=0", "kafka linger=5", "nats linger=0" and "nats linger=5". If it has Kafka in two
// versions, those of Kafka begin with "kafka@4.0" and "kafka@4.1".
//
// The settings that a study varies are its axes. Other settings are found by their paths in the spec, such as "client.linger.ms".

package results

import (
	"cmp"
	"slices"
	"strings"
)

// Variant is the settings in a point's name: linger=5 and topics=2.
type Variant []SettingValue

// SettingValue is a setting, by the name of its axis or by its path in the spec, with a point's value.
type SettingValue struct{ Name, Value string }

// String writes a variant as it stands in names: "linger=5 topics=2".
func (v Variant) String() string {
	texts := make([]string, len(v))
	for i, s := range v {
		texts[i] = s.Name + "=" + s.Value
	}
	return strings.Join(texts, " ")
}

func (v Variant) has(name string) bool {
	return slices.ContainsFunc(v, func(s SettingValue) bool { return s.Name == name })
}

// shownElsewhere are axes that names leave out, because reports have columns and headings for them.
// Some axes have a short name as well: size is messageSize.
var shownElsewhere = map[string]bool{
	"broker":       true,
	"version":      true, // follows the broker
	"messageSize":  true,
	"size":         true,
	"delivery":     true,
	"measure":      true,
	"load.rate":    true,
	"rate":         true,
	"producerRate": true,
	"sweep":        true, // a part of the study's text, which is not measured
}

// InNames tells whether the values of an axis stand in the names of points that differ in it.
func InNames(axis string) bool { return !shownElsewhere[axis] }

// nameAll sets the name of every point and the parts of it:
//
//	Product    shape   Variant            Name
//	kafka                                 kafka
//	kafka@4.1  bursts  linger=5 topics=2  kafka@4.1 bursts linger=5 topics=2
func nameAll(points []*Point) {
	versionsByBroker, valuesByAxis, detailsByShape := Values{}, Values{}, Values{}
	for _, p := range points {
		versionsByBroker.Add(p.Spec.Broker, p.Spec.Version)
		valuesByAxis.AddAll(p.axes())
		shape, details := shapeOf(p.Spec.Load)
		detailsByShape.Add(shape, details)
	}
	for _, p := range points {
		p.Product = p.Spec.Broker
		if p.Spec.Version != "" && versionsByBroker.Vary(p.Spec.Broker) {
			p.Product += "@" + p.Spec.Version
		}
		p.shape = shapeInName(*p, detailsByShape)
		p.Variant = variantOf(*p, valuesByAxis)
	}
	distinguish(points)
	for _, p := range points {
		p.Name = strings.TrimSpace(p.Kind() + " " + p.Variant.String())
	}
}

// shapeInName is how a point's name shows the shape of its load. Points of one name share a row of a
// table or a line of a chart, which loads of different shapes must not do.
//
//	shapes of the loads                  in the names
//	all alike                            nothing
//	constant, and bursts of one length   nothing and "bursts"; nothing if the shape is an axis: the variant has it
//	bursts of two lengths                the details of each, as JSON
func shapeInName(p Point, detailsByShape Values) string {
	shape, details := shapeOf(p.Spec.Load)
	_, isAxis := p.axes()["load.shape"]
	switch {
	case detailsByShape.Vary(shape):
		return details
	case len(detailsByShape) > 1 && !isAxis:
		return shape
	default:
		return ""
	}
}

// variantOf is a point's values on the axes in which points of the set differ.
func variantOf(p Point, valuesByAxis Values) Variant {
	var v Variant
	values := p.axes()
	for _, axis := range sortedKeys(values) {
		// A value that is the name of the broker or the delivery guarantee repeats it: a study of shipped
		// configurations has shipped=kafka for Kafka, and one of guarantees has guarantee=at-least-once.
		repeats := values[axis] == p.Spec.Broker || values[axis] == p.Spec.Delivery
		if InNames(axis) && valuesByAxis.Vary(axis) && !repeats {
			v = append(v, SettingValue{Name: axis, Value: values[axis]})
		}
	}
	return v
}

// FirstInNames are the paths of the settings that readers care for most. If points have the same
// values on all axes, names tell them apart by these settings before any others.
var FirstInNames = []string{"persistence", "replicas", "acks", "ordering", "nodes", "tls"}

// distinguish adds settings to the variants of namesakes until no two points are namesakes, or those that are don't differ. There are
// such points if a study varied settings without making them axes: two points "kafka" that differ in their spec's acks become
// "kafka acks=1" and "kafka acks=all".
func distinguish(points []*Point) {
	for changed := true; changed; { // a point may have got the name of one from another group
		changed = false
		for _, alike := range namesakes(points) {
			changed = addSettings(alike) || changed
		}
	}
}

// addSettings adds settings in which namesakes differ to their variants, one by one, until they are no namesakes any more. It reports
// whether there was any.
func addSettings(alike []*Point) (added bool) {
	specs := make([]map[string]string, len(alike)) // values by path, in the order of alike
	for i, p := range alike {
		specs[i] = p.facts.ofSpec(p.Spec)
	}
	for _, path := range differingPaths(specs) {
		if alike[0].Variant.has(path) { // namesakes have it alike, so it can't tell them apart
			continue
		}
		for i, p := range alike {
			p.Variant = append(p.Variant, SettingValue{Name: path, Value: cmp.Or(specs[i][path], "unset")})
		}
		added = true
		if len(namesakes(alike)) == 0 {
			break
		}
	}
	return added
}

// namesakes groups the points that have the same name, table and load: a reader could not tell them apart.
func namesakes(points []*Point) [][]*Point {
	asShown := func(p *Point) string {
		return strings.Join([]string{p.Kind(), p.Variant.String(), p.Setting(), p.Load()}, "\n")
	}
	var groups [][]*Point
	for _, g := range GroupBy(points, asShown) {
		if len(g.Members) > 1 {
			groups = append(groups, g.Members)
		}
	}
	return groups
}

// differingPaths lists the paths at which specs differ, those of FirstInNames first, then the others by name.
func differingPaths(specs []map[string]string) []string {
	values := Values{} // by path
	for _, spec := range specs {
		values.AddAll(spec)
	}
	for path := range values {
		for _, spec := range specs {
			values.Add(path, spec[path]) // "" if the spec doesn't have it
		}
	}
	isFirst := func(path string) bool { return slices.Contains(FirstInNames, path) }
	first := slices.DeleteFunc(slices.Clone(FirstInNames), func(path string) bool { return !values.Vary(path) })
	return append(first, slices.DeleteFunc(values.Varying(), isFirst)...)
}
