// A comparison has two sides, such as two versions of a broker. A pair is what both sides measured of the same work: of "100 B,
// at-least-once, rate 1k/s" the points of one side and those of the other. Its half is what one of the sides measured.

package reports

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// Side is one side of a comparison: a name for people and its results.
type Side struct {
	Name string
	Set  *results.Set
}

// Pairs lists the pairs that Compare compares, then the points that only one side measured, each as a pair without another side.
func Pairs(a, b Side, meantToDiffer ...string) []results.Pair {
	found := match(a, b, meantToDiffer)
	pairs := lists.Map(found.pairs, func(p pair) results.Pair {
		return results.Pair{Title: p.title, A: p.first.points, B: p.second.points}
	})
	return append(pairs, found.unmatched...)
}

// pair holds what both sides measured of the same work.
type pair struct {
	title         string // names the work: "100 B, at-least-once, rate 1k/s"
	first, second half
}

// half is what one side measured of the work of a pair.
type half struct {
	sideName string
	points   []results.Point // at least one; all have one name and were given the same load
	curve    curveRate       // at which curves of given rates are compared
}

func (p pair) halves() []half { return []half{p.first, p.second} }

// hasPublished reports whether either half holds figures of a publication, which no test applies to.
func (p pair) hasPublished() bool {
	return slices.ContainsFunc(slices.Concat(p.first.points, p.second.points), results.Point.Published)
}

func (p pair) hasClosedLoop() bool {
	return results.AnyClosedLoop(p.first.points) || results.AnyClosedLoop(p.second.points)
}

// usable lists the records that may be used for conclusions; for curves of given rates, only the measurements at the compared rate.
func (h half) usable() []results.Record {
	if !h.curve.given {
		return h.endedOK()
	}
	return lists.Flat(h.endedOK(), func(r results.Record) []results.Record { return okAt(r, h.curve.title) })
}

// endedOK lists the repetitions that ended ok.
func (h half) endedOK() []results.Record { return lists.Flat(h.points, results.Point.Ok) }

// hasLatency reports whether any usable record has latencies from the intended time. Results imported
// from other tools don't.
func (h half) hasLatency() bool {
	return slices.ContainsFunc(h.usable(), func(r results.Record) bool {
		return r.Result != nil && r.Result.Latency.EndToEnd.Count() > 0
	})
}

// matches are the pairs of a comparison.
type matches struct {
	pairs     []pair
	unmatched []results.Pair // workloads that only one side was given
}

// match pairs the points that were given exactly the same work, but for the spec paths that are meant to differ. If there are none, it pairs
// those with the same message size, guarantee and load. Figures of a publication are paired by their place in the study, because a paper's
// workload is known only as far as the paper tells it.
func match(a, b Side, meantToDiffer []string) matches {
	if anyPublished(a, b) {
		return matchBy(a, b, meantToDiffer, func(p results.Point) string { return placeInStudy(p, meantToDiffer) })
	}
	found := matchBy(a, b, meantToDiffer, func(p results.Point) string { return p.Workload(meantToDiffer...) })
	if len(found.pairs) > 0 {
		return found
	}
	return matchBy(a, b, meantToDiffer, func(p results.Point) string { return p.Setting() + ", " + loadID(p) })
}

// anyPublished reports whether a side holds figures of a publication.
func anyPublished(a, b Side) bool {
	return slices.ContainsFunc(slices.Concat(a.Set.Points, b.Set.Points), results.Point.Published)
}

func loadID(p results.Point) string { return results.LoadID(p.Spec) }

// nameAndLoad is equal for points whose settings and load are equal, such as those of a study that was run twice in two scales.
func nameAndLoad(p results.Point) string { return p.Name + "\n" + loadID(p) }

// matchBy pairs points with the same key. The key leaves out what is compared, and what that implies: the load if measurements are
// compared, the client's settings if brokers are. A side may then have several points of one key; each is paired with each of the other.
func matchBy(a, b Side, meantToDiffer []string, key func(results.Point) string) matches {
	firsts, seconds := results.GroupBy(a.Set.Points, key), results.GroupBy(b.Set.Points, key)
	var found matches
	for _, first := range firsts {
		i := slices.IndexFunc(seconds, func(second group) bool { return second.Name == first.Name })
		if i < 0 {
			found.unmatched = append(found.unmatched, results.Pair{Title: workTitle(first.Members[0], first.Members[0], meantToDiffer), A: first.Members})
			continue
		}
		for _, ofFirst := range results.GroupBy(first.Members, nameAndLoad) {
			for _, ofSecond := range results.GroupBy(seconds[i].Members, nameAndLoad) {
				p := pair{
					title:  workTitle(ofFirst.Members[0], ofSecond.Members[0], meantToDiffer),
					first:  half{sideName: a.Name, points: ofFirst.Members},
					second: half{sideName: b.Name, points: ofSecond.Members},
				}
				p.chooseRate()
				found.pairs = append(found.pairs, p)
			}
		}
	}
	for _, second := range seconds {
		if !slices.ContainsFunc(firsts, func(first group) bool { return first.Name == second.Name }) {
			found.unmatched = append(found.unmatched, results.Pair{Title: workTitle(second.Members[0], second.Members[0], meantToDiffer), B: second.Members})
		}
	}
	return found
}

// placeInStudy names a point's study and its values on the study's axes, except when and in which
// version it was measured, and those that are meant to differ: "dyjach-2024 broker=kafka messageSize=100". A point that a paper ran
// for a minute and we ran for seconds was given different work, but has the same place.
func placeInStudy(p results.Point, meantToDiffer []string) string {
	r := p.Records[0] // all records of a point have the same axes
	words := []string{r.Study}
	for _, axis := range slices.Sorted(maps.Keys(r.Axes)) {
		if axis != "when" && axis != "version" && !slices.Contains(meantToDiffer, axis) {
			words = append(words, axis+"="+r.Axes[axis])
		}
	}
	return strings.Join(words, " ")
}

// workTitle names the work of a pair: the broker, unless that is what differs, message size, guarantee, whatever else was asked for that is no
// default and not meant to differ, load, and the values of further axes. It says both where the two points differ: "kafka, 100 B,
// at-least-once, 3 subscriptions, rate 1k/s against rate 2k/s".
func workTitle(first, second results.Point, meantToDiffer []string) string {
	words := []string{against(first.Setting(), second.Setting())}
	if broker := first.Spec.Broker; broker == second.Spec.Broker {
		words = slices.Concat([]string{broker}, words)
	}
	words = append(words, results.AskedApart(first, second, meantToDiffer...)...)
	title := strings.Join(append(words, against(first.Load(), second.Load())), ", ")
	firstVariant, secondVariant := first.Variant.String(), second.Variant.String()
	if firstVariant == "" && secondVariant == "" {
		return title
	}
	// A point without a variant is named by its product.
	return title + ", " + against(cmp.Or(firstVariant, first.Product), cmp.Or(secondVariant, second.Product))
}

// against is "a against b", or a alone if both are equal.
func against(a, b string) string {
	if a == b {
		return a
	}
	return a + " against " + b
}
