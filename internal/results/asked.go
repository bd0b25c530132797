package results

import (
	"slices"
	"strings"
)

// Title names what all points share: message size, guarantee, and whatever else was asked for that is no default: "1 KiB, at-least-once, 3
// subscriptions". What the points' names say of them is left out. The points have one Setting.
func Title(points []Point) string {
	return strings.Join(append([]string{points[0].Setting()}, AskedByAll(points)...), ", ")
}

// AskedByAll words what all points ask for that is no default, as "3 subscriptions".
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

// askedInWords words what the point asks for, but for what its name says.
func (p Point) askedInWords() (words []string) {
	if p.Published() {
		return nil // a paper's settings are known as far as it tells them
	}
	for _, path := range p.Spec.Asked() {
		if !p.Variant.has(path) {
			words = append(words, p.Spec.InWords(path))
		}
	}
	return words
}

// Title is that of the point alone.
func (p Point) Title() string { return Title([]Point{p}) }

// AskedApart words what either of two points asks for that is no default, and in what they differ there: "3 nodes", "1 subscription against 3
// subscriptions". Paths that are meant to differ are left out, with those that they imply.
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
		if !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	return words
}
