package results

import (
	"cmp"
	"slices"
	"strings"
)

// shownElsewhere are axes that every report has a place of its own for.
var shownElsewhere = map[string]bool{
	"broker": true, "messageSize": true, "size": true, "delivery": true, "measure": true, "load.rate": true, "rate": true, "producerRate": true,
	"version": true, // stands beside the broker
	"sweep":   true, // how a study is written, not what is measured
}

// CompareNames orders names as people do: names that are equal up to a number go by the number, 2KiB before 16KiB.
func CompareNames(a, b string) int {
	number := func(s string) (value, rest string) {
		n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if n < 0 {
			n = len(s)
		}
		return strings.TrimLeft(s[:n], "0"), s[n:]
	}
	for a != "" && b != "" {
		x, afterX := number(a)
		y, afterY := number(b)
		if afterX != a && afterY != b { // both begin with a number
			if order := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); order != 0 {
				return order
			}
			a, b = afterX, afterY
			continue
		}
		if a[0] != b[0] {
			break
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(a, b)
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

// name gives every point its broker's name, with the values of further axes that vary.
func name(points []*Point) {
	values, versions, shapes := Values{}, Values{}, Values{}
	for _, p := range points {
		versions.Add(p.Spec.Broker, p.Spec.Version)
		values.AddAll(p.axes())
		shapes.Add(shape(p.Spec.Load))
	}
	for _, p := range points {
		p.Product = p.Spec.Broker
		if p.Spec.Version != "" && versions.Vary(p.Spec.Broker) {
			p.Product += "@" + p.Spec.Version
		}
		axes := p.axes()
		// A load of another shape is another workload, and points of the same name share a row or a line.
		if shape, detail := shape(p.Spec.Load); shapes.Vary(shape) {
			p.shape = detail
		} else if len(shapes) > 1 && axes["load.shape"] == "" {
			p.shape = shape
		}
		p.words = nil
		for _, axis := range sortedKeys(axes) {
			if InNames(axis) && values.Vary(axis) && axes[axis] != p.Spec.Broker { // a choice that is named after its broker
				p.words = append(p.words, Word{axis, axes[axis]})
			}
		}
		p.vary()
	}
	distinguish(points)
}

// vary adds words to the variant of p, and renews its name.
func (p *Point) vary(words ...Word) {
	p.words = append(p.words, words...)
	var texts []string
	for _, w := range p.words {
		texts = append(texts, w.Name+"="+w.Value)
	}
	p.Variant = strings.Join(texts, " ")
	p.Name = strings.TrimSpace(p.Kind() + " " + p.Variant)
}
