// How points are named. A name holds only what distinguishes a point from the other points of its set. In a study of Kafka and
// NATS with two values of linger the names are "kafka linger=0", "kafka linger=5", "nats linger=0" and "nats linger=5". If it has
// two versions of Kafka, their names begin with "kafka@4.0" and "kafka@4.1".
//
// The settings that a study varies are its axes. Other settings are found by their paths in the spec, such as
// "client.linger.ms".

package results

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/study"
)

// Variant is the settings in a point's name: linger=5 and topics=2.
type Variant []SettingValue

// SettingValue is a setting, by the name of its axis or by its path in the spec, with a point's value.
type SettingValue struct{ Name, Value string }

// String writes a variant as in names: "linger=5 topics=2".
func (v Variant) String() string {
	return strings.Join(lists.Map(v, func(s SettingValue) string { return s.Name + "=" + s.Value }), " ")
}

func (v Variant) has(name string) bool {
	return slices.ContainsFunc(v, func(s SettingValue) bool { return s.Name == name })
}

// shownElsewhere are axes that names leave out, because reports have columns and headings for them. Some axes have a short
// name as well: size is messageSize.
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

// InNames reports whether the values of an axis stand in the names of points that differ in it.
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
		p.shape = shapeInName(p.Spec.Load, p.axes(), detailsByShape)
		p.Variant = variantOf(p.Spec, p.axes(), valuesByAxis)
	}
	distinguish(points)
	for _, p := range points {
		p.Name = strings.TrimSpace(p.Kind() + " " + p.Variant.String())
	}
}

// shapeInName is the part of a point's name for the shape of its load. axes are its values on the axes of its study. Points of
// one name share a row of a table or a line of a chart, which loads of different shapes must not do.
//
//	shapes of the loads                  in the names
//	all alike                            nothing
//	constant, and bursts of one length   nothing and "bursts"; nothing if the shape is an axis: the variant has it
//	bursts of two lengths                the details of each, as JSON
func shapeInName(load study.Load, axes map[string]string, detailsByShape Values) string {
	shape, details := shapeOf(load)
	_, isAxis := axes["load.shape"]
	switch {
	case detailsByShape.Vary(shape):
		return details
	case len(detailsByShape) > 1 && !isAxis:
		return shape
	}
	return ""
}

// variantOf lists the axes of a study in which points of the set differ, with a point's values on them.
func variantOf(spec study.Spec, axes map[string]string, valuesByAxis Values) Variant {
	var v Variant
	for _, axis := range sortedKeys(axes) {
		// A value that is the name of the broker or the delivery guarantee repeats it: a study of shipped
		// configurations has shipped=kafka for Kafka, and one of guarantees has guarantee=at-least-once.
		repeats := axes[axis] == spec.Broker || axes[axis] == spec.Delivery
		if InNames(axis) && valuesByAxis.Vary(axis) && !repeats {
			v = append(v, SettingValue{Name: axis, Value: axes[axis]})
		}
	}
	return v
}

// FirstInNames are the paths of the settings that matter most to readers. If points have the same values on all axes, their names
// are distinguished by these settings first.
var FirstInNames = []string{"generator", "persistence", "replicas", "acks", "ordering", "nodes", "tls"}

// distinguish makes the variants of points longer until all names differ, except those of points with equal specs. Names may be
// equal if a study varied a setting that is not one of its axes: two points "kafka" become "kafka acks=1" and "kafka acks=all".
func distinguish(points []*Point) {
	anyAdded := true
	for anyAdded { // again, because a point may now have the name of one in another group
		anyAdded = false
		for _, alike := range namesakes(points) {
			anyAdded = addSettings(alike) || anyAdded
		}
	}
}

// namesakes groups the points that have the same name, table and load: a reader could not tell them apart.
func namesakes(points []*Point) [][]*Point {
	asShown := func(p *Point) string {
		return strings.Join([]string{p.Kind(), p.Variant.String(), p.Setting(), p.Load()}, "\n")
	}
	groups := lists.Map(GroupBy(points, asShown), func(g Group[*Point]) []*Point { return g.Members })
	return lists.Filter(groups, func(group []*Point) bool { return len(group) > 1 })
}

// addSettings adds settings in which namesakes differ to the variants of all of them, one by one, until no two are namesakes. It
// returns false if there was nothing to add because their specs are equal, or all differences are in their names already.
func addSettings(alike []*Point) (added bool) {
	specs := lists.Map(alike, func(p *Point) map[string]string { return p.facts.ofSpec(p.Spec) })
	for _, path := range differingPaths(specs) {
		if alike[0].Variant.has(path) { // with the same value in all of alike, which have one variant
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

// differingPaths lists the paths at which specs differ, those of FirstInNames first, then the others by name.
func differingPaths(specs []map[string]string) []string {
	all := map[string]bool{}
	for _, spec := range specs {
		for path := range spec {
			all[path] = true
		}
	}
	var differing []string
	for _, path := range slices.Concat(FirstInNames, sortedKeys(all)) {
		differs := slices.ContainsFunc(specs, func(s map[string]string) bool { return s[path] != specs[0][path] })
		if differs && !slices.Contains(differing, path) {
			differing = append(differing, path)
		}
	}
	return differing
}

// Title names the properties that all points share: message size, guarantee, and other settings that are no defaults: "1 KiB,
// at-least-once, 3 subscriptions". It leaves out settings in the points' names. The points have one Setting.
func Title(points []Point) string {
	return strings.Join(append([]string{points[0].Setting()}, AskedByAll(points)...), ", ")
}

// AskedByAll describes the settings of all points that are no defaults: "3 subscriptions".
func AskedByAll(points []Point) (words []string) {
	for i, p := range points {
		own := p.askedInWords()
		if i == 0 {
			words = own
		}
		words = slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(own, w) })
	}
	return words
}

// askedInWords describes the point's settings that are no defaults, except those in its name.
func (p Point) askedInWords() []string {
	if p.Published() {
		return nil // a paper gives only some of its settings
	}
	return lists.Map(lists.Filter(p.Spec.Asked(), func(path string) bool { return !p.Variant.has(path) }), p.Spec.InWords)
}

// Title is the title of the point alone.
func (p Point) Title() string { return Title([]Point{p}) }

// AskedApart describes the settings of two points that are no defaults, and differ: "3 nodes", "1 subscription against 3
// subscriptions". It leaves out paths that are meant to differ, and those that they imply.
func AskedApart(first, second Point, meantToDiffer ...string) (words []string) {
	leftOut := withImplied(meantToDiffer)
	seconds := second.Spec.Asked()
	for _, path := range slices.Concat(first.Spec.Asked(), seconds) {
		if isAtOrBelow(path, leftOut) || first.Variant.has(path) || second.Variant.has(path) {
			continue
		}
		text, other := first.Spec.InWords(path), second.Spec.InWords(path)
		if text != other {
			text += " against " + other
		}
		words = lists.AddNew(words, text)
	}
	return words
}
