package results

import (
	"cmp"
	"slices"
	"strings"
)

// shownElsewhere are axes that reports show in columns and headings of their own, so that names leave them out.
var shownElsewhere = map[string]bool{
	"broker": true, "messageSize": true, "size": true, "delivery": true, "measure": true, "load.rate": true, "rate": true, "producerRate": true,
	"version": true, // follows the broker
	"sweep":   true, // a part of the study's text, not of what is measured
}

// CompareNames orders names as people do: if both have a number at the same place, the numbers decide, so that 2KiB comes before
// 16KiB.
func CompareNames(a, b string) int {
	for a != "" && b != "" {
		numberA, restA := cutNumber(a)
		numberB, restB := cutNumber(b)
		if numberA != "" && numberB != "" {
			if order := compareDigits(numberA, numberB); order != 0 {
				return order
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			break
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(a, b)
}

// cutNumber cuts the digits off the beginning of a text.
func cutNumber(text string) (digits, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// compareDigits compares whole numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// Names lists the names of points, each once, in the order in which charts give them colours and shapes.
func Names(points []Point) []string {
	names := make([]string, len(points))
	for i, p := range points {
		names[i] = p.Name
	}
	slices.SortFunc(names, CompareNames)
	return slices.Compact(names)
}

// CompareKinds orders points by the parts of their names: by kind, then by the values of their settings.
func CompareKinds(a, b Point) int {
	return cmp.Or(CompareNames(a.Kind(), b.Kind()), compareWords(a.words, b.words))
}

// compareWords orders variants by the values of their settings, the first one first: 16KiB before 1MiB.
func compareWords(a, b []Word) int {
	for i := range min(len(a), len(b)) {
		order := CompareNames(a[i].Name, b[i].Name)
		if x, ok := Magnitude(a[i].Value); ok && order == 0 {
			if y, ok := Magnitude(b[i].Value); ok {
				order = cmp.Compare(x, y)
			}
		}
		if order = cmp.Or(order, CompareNames(a[i].Value, b[i].Value)); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}

// InNames tells whether the values of an axis stand in the names of points that differ in it.
func InNames(axis string) bool { return !shownElsewhere[axis] }

// nameAll gives every point its name: its broker, with the settings that set it apart from other points of the same broker.
func nameAll(points []*Point) {
	axes, versions, shapes := Values{}, Values{}, Values{}
	for _, p := range points {
		versions.Add(p.Spec.Broker, p.Spec.Version)
		axes.AddAll(p.axes())
		shapes.Add(shape(p.Spec.Load))
	}
	for _, p := range points {
		p.Product = p.Spec.Broker
		if p.Spec.Version != "" && versions.Vary(p.Spec.Broker) {
			p.Product += "@" + p.Spec.Version
		}
		p.shape = shapeInName(p, shapes)
		p.words = nil
		for _, axis := range sortedKeys(p.axes()) {
			value := p.axes()[axis]
			repeatsBroker := value == p.Spec.Broker
			if InNames(axis) && axes.Vary(axis) && !repeatsBroker {
				p.words = append(p.words, Word{Name: axis, Value: value})
			}
		}
		p.addWords()
	}
	distinguish(points)
}

// shapeInName is the part of a point's name that says the shape of its load: points of the same name share a row or a line, and loads of
// different shapes are different workloads. It is empty if all loads have one shape, or if the shape is an axis of the study.
func shapeInName(p *Point, shapes Values) string {
	name, detail := shape(p.Spec.Load)
	switch {
	case shapes.Vary(name): // several loads of this shape differ in its details
		return detail
	case len(shapes) > 1 && p.axes()["load.shape"] == "":
		return name
	}
	return ""
}

// addWords adds words to the variant of p and makes its name anew.
func (p *Point) addWords(words ...Word) {
	p.words = append(p.words, words...)
	var texts []string
	for _, w := range p.words {
		texts = append(texts, w.Name+"="+w.Value)
	}
	p.Variant = strings.Join(texts, " ")
	p.Name = strings.TrimSpace(p.Kind() + " " + p.Variant)
}
