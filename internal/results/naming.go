package results

import (
	"cmp"
	"slices"
	"strings"
)

// Variant is the settings by which a point's name tells it from other points of its set.
type Variant []SettingValue

// SettingValue is a setting by its axis or its path in the spec, with the value that a point has.
type SettingValue struct{ Name, Value string }

// String writes a variant as it stands in names: "linger=5 topics=2".
func (v Variant) String() string {
	texts := make([]string, len(v))
	for i, s := range v {
		texts[i] = s.Name + "=" + s.Value
	}
	return strings.Join(texts, " ")
}

// shownElsewhere are axes that reports show in columns and headings of their own, so that names
// leave them out. The short names of axes are among them: size is messageSize.
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
	"sweep":        true, // a part of the study's text, not of what is measured
}

// InNames tells whether the values of an axis stand in the names of points that differ in it.
func InNames(axis string) bool { return !shownElsewhere[axis] }

// nameAll gives every point its name and the parts of it, by what the points differ in:
//
//	Product    shape   Variant            Name
//	kafka                                 kafka
//	kafka@4.1  bursts  linger=5 topics=2  kafka@4.1 bursts linger=5 topics=2
func nameAll(points []*Point) {
	versions, axes, shapes := Values{}, Values{}, Values{} // versions by broker, values by axis, details by shape
	for _, p := range points {
		versions.Add(p.Spec.Broker, p.Spec.Version)
		axes.AddAll(p.axes())
		shapes.Add(shapeOf(p.Spec.Load))
	}
	for _, p := range points {
		p.Product = p.Spec.Broker
		if p.Spec.Version != "" && versions.Vary(p.Spec.Broker) {
			p.Product += "@" + p.Spec.Version
		}
		p.shape = shapeInName(*p, shapes)
		p.Variant = variantOf(*p, axes)
	}
	distinguish(points)
	for _, p := range points {
		p.Name = strings.TrimSpace(p.Kind() + " " + p.Variant.String())
	}
}

// shapeInName is the shape of a point's load, if points differ in it: loads of different shapes are
// different workloads, and points of one name share a row or a line. Where two points have this shape
// with other details, such as the lengths of two bursts, it is the details. Else it is the name of the
// shape, and empty if the shape is an axis of the study: the variant has it then.
func shapeInName(p Point, shapes Values) string {
	shape, details := shapeOf(p.Spec.Load)
	_, isAxis := p.axes()["load.shape"]
	switch {
	case shapes.Vary(shape):
		return details
	case len(shapes) > 1 && !isAxis:
		return shape
	default:
		return ""
	}
}

// variantOf is a point's values on the axes in which points of the set differ.
func variantOf(p Point, axes Values) Variant {
	var v Variant
	values := p.axes()
	for _, axis := range sortedKeys(values) {
		// A value that is the name of the broker or the delivery guarantee repeats it: a study of shipped
		// configurations has shipped=kafka for Kafka, and one of guarantees has guarantee=at-least-once.
		repeats := values[axis] == p.Spec.Broker || values[axis] == p.Spec.Delivery
		if InNames(axis) && axes.Vary(axis) && !repeats {
			v = append(v, SettingValue{Name: axis, Value: values[axis]})
		}
	}
	return v
}

// FirstInNames are the spec paths that names have before others, where points have to be told apart
// that a study's axes don't tell apart.
var FirstInNames = []string{"persistence", "replicas", "acks", "ordering", "nodes", "tls"}

// distinguish adds settings to the variants of points that have the same name, table and load,
// until they differ. There are such points if a study varied settings without making them axes: two
// points "kafka" that differ in their spec's acks become "kafka acks=1" and "kafka acks=all".
func distinguish(points []*Point) {
	for _, alike := range namesakes(points) {
		specs := make([]map[string]string, len(alike)) // values by path, in the order of alike
		for i, p := range alike {
			specs[i] = p.facts.ofSpec(p.Spec)
		}
		for _, path := range differing(specs) {
			for i, p := range alike {
				p.Variant = append(p.Variant, SettingValue{Name: path, Value: cmp.Or(specs[i][path], "unset")})
			}
			if len(namesakes(alike)) == 0 {
				break
			}
		}
	}
}

// namesakes groups the points that share their name, table and load with others.
func namesakes(points []*Point) [][]*Point {
	var groups [][]*Point
	for _, g := range GroupBy(points, func(p *Point) string {
		return strings.Join([]string{p.Kind(), p.Variant.String(), p.Setting(), p.Load()}, "\n")
	}) {
		if len(g.Members) > 1 {
			groups = append(groups, g.Members)
		}
	}
	return groups
}

// differing lists the paths at which specs differ, those of FirstInNames first.
func differing(specs []map[string]string) []string {
	paths := map[string]bool{}
	for _, spec := range specs {
		for path, value := range spec {
			if slices.ContainsFunc(specs, func(other map[string]string) bool { return other[path] != value }) {
				paths[path] = true
			}
		}
	}
	isFirst := func(path string) bool { return slices.Contains(FirstInNames, path) }
	first := slices.DeleteFunc(slices.Clone(FirstInNames), func(path string) bool { return !paths[path] })
	return append(first, slices.DeleteFunc(sortedKeys(paths), isFirst)...)
}
