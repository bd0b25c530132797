// A comparison has two sides, such as two versions of a broker. A pair is what both sides measured of the same work: of "100 B,
// at-least-once, rate 1k/s" the point of one side and that of the other. Here the pairs are found.

package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// Side is one side of a comparison: a name for people and its results.
type Side struct {
	Name string
	Set  *results.Set
}

// Pair is the points of two sides that were given the same work.
type Pair = results.Pair

// Pairs lists the pairs that Compare compares. named are the spec paths in which the sides are meant to differ.
func Pairs(a, b Side, named ...string) []Pair {
	var pairs []Pair
	for _, p := range match(a, b, named).pairs {
		pairs = append(pairs, Pair{Title: p.title, A: p.first.points, B: p.second.points})
	}
	return pairs
}

// pair holds what both sides measured of the same work.
type pair struct {
	title         string // names the work: "100 B, at-least-once, rate 1k/s"
	first, second half
}

// half is what one side measured of the work of a pair.
type half struct {
	side   string          // its name
	points []results.Point // at least one; all were given the same load
}

func (p pair) halves() []half { return []half{p.first, p.second} }

// usable lists the records that conclusions may be drawn from.
func (h half) usable() []results.Record {
	var records []results.Record
	for _, point := range h.points {
		records = append(records, point.Ok()...)
	}
	return records
}

// matches are the pairs of a comparison.
type matches struct {
	pairs     []pair
	unmatched int // workloads that only one side was given
}

// match pairs the points that were given exactly the same work. If there are none, it pairs those with the same message size,
// guarantee and load. Figures of a publication are paired by their place in the study, because a paper's workload is known only as
// far as the paper tells it.
func match(a, b Side, named []string) matches {
	if a.anyPublished() || b.anyPublished() {
		return matchBy(a, b, placeInStudy)
	}
	found := matchBy(a, b, func(p results.Point) string { return p.Workload(named...) })
	if len(found.pairs) > 0 {
		return found
	}
	return matchBy(a, b, func(p results.Point) string { return p.Setting() + ", " + results.LoadID(p.Spec) })
}

// matchBy pairs points with the same key. The key leaves out the load if loads are what is compared; then each load of one side is paired
// with each load of the other.
func matchBy(a, b Side, key func(results.Point) string) matches {
	firsts, seconds := groupBy(a.Set.Points, key), groupBy(b.Set.Points, key)
	found := matches{unmatched: len(firsts) + len(seconds)}
	for _, first := range firsts {
		i := slices.IndexFunc(seconds, func(second group) bool { return second.name == first.name })
		if i < 0 {
			continue
		}
		found.unmatched -= 2 // one of each side
		for _, ofFirst := range groupByLoad(first.points) {
			for _, ofSecond := range groupByLoad(seconds[i].points) {
				found.pairs = append(found.pairs, pair{
					title:  workTitle(ofFirst.points[0], ofSecond.points[0]),
					first:  half{side: a.Name, points: ofFirst.points},
					second: half{side: b.Name, points: ofSecond.points},
				})
			}
		}
	}
	return found
}

func groupByLoad(points []results.Point) []group {
	return groupBy(points, func(p results.Point) string { return results.LoadID(p.Spec) })
}

// placeInStudy names a point's study and its values on the study's axes, except when and in which version it was measured. A point
// that a paper ran for a minute and we ran for seconds was given different work, but has the same place.
func placeInStudy(p results.Point) string {
	r := p.Records[0] // all records of a point have the same axes
	words := []string{r.Study}
	for _, axis := range slices.Sorted(maps.Keys(r.Axes)) {
		if axis != "when" && axis != "version" {
			words = append(words, axis+"="+r.Axes[axis])
		}
	}
	return strings.Join(words, " ")
}

// workTitle names the work of a pair: message size, guarantee, load, and the values of further axes. It says both where the two
// points differ: "100 B, at-least-once, rate 1k/s against rate 2k/s".
func workTitle(first, second results.Point) string {
	title := against(first.Setting(), second.Setting()) + ", " + against(first.Load(), second.Load())
	variant1, variant2 := first.Variant.String(), second.Variant.String()
	switch {
	case variant1 == "" && variant2 == "":
		return title
	case variant1 == variant2:
		return title + ", " + variant1
	}
	// A point without a variant is told apart by its product.
	return fmt.Sprintf("%s, %s against %s", title, cmp.Or(variant1, first.Product), cmp.Or(variant2, second.Product))
}

// against is "a against b", or a alone if both are equal.
func against(a, b string) string {
	if a == b {
		return a
	}
	return a + " against " + b
}
