package study

import "cmp"

// Budget is what the studies of one command have taken so far of what they may take together: each of them is bounded, and so is their
// sum. The zero Budget is that of no study. It is not safe for concurrent use.
type Budget struct {
	points, settings, repetitions int
	shelf                         shelf
}

const (
	maxPoints      = 100_000
	maxSettings    = 5_000_000 // that are given, of all points: each takes some 150 bytes
	maxRepetitions = 1_000_000 // of all points: each takes some 100 bytes
)

// spend counts values that a document stands for beside those that are written in it: those of ranges, and of sweeps at a scale. It
// reports whether there may be so many.
func (d decoder) spend(n int, at place, path string) bool {
	if d.made += n; d.made > maxValues {
		d.add(at, path, "with this the document's ranges, and its sweeps at its scales, stand for more than %d values; allowed: %[1]d", maxValues)
	}
	return d.made <= maxValues
}

// take counts the points of a study and the settings that they are given, before they are made. It adds to e what is too much.
func (b *Budget) take(e *expansion) {
	s := e.study
	together := ""
	if b.points > 0 {
		together = ", together with the studies before it"
	}
	for _, w := range s.sweeps {
		n, given := 1, s.base.weight()+w.set.weight()
		for _, a := range w.axes {
			if n *= len(a.values); n > maxPoints {
				break
			}
			most := 0
			for _, c := range a.values {
				most = max(most, c.set.weight())
			}
			given += most
		}
		if b.points += n; b.points > maxPoints {
			e.add(place{file: s.File}, "axes", "more than %d points%s", maxPoints, together)
			return
		}
		if b.settings += n * given; b.settings > maxSettings {
			e.add(place{file: s.File}, "axes", "%d points of %d settings each; allowed: %d settings in all%s", n, given, maxSettings, together)
			return
		}
	}
}

// repeat counts the repetitions of the points that were made. It adds to e what is too much.
func (b *Budget) repeat(e *expansion) {
	s, together := e.study, ""
	if b.repetitions > 0 {
		together = ", together with the studies before it"
	}
	if b.repetitions += len(e.points) * max(0, s.Repeats); b.repetitions > maxRepetitions {
		e.add(place{file: cmp.Or(s.flags["repeats"], s.File)}, "repeats", "%d points, each %d times; allowed: %d repetitions in all%s",
			len(e.points), s.Repeats, maxRepetitions, together)
	}
}
