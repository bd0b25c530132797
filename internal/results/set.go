package results

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Set holds stored records as points, computed once, for reports, pages, figures, gates and spreadsheets. It is never changed.
type Set struct {
	Records []store.Record // also those that a later one supersedes
	Points  []Point        // by message size, delivery, measure, rate and broker, then by their names
}

// Of makes a set of records.
func Of(records []store.Record) *Set {
	return &Set{Records: records, Points: pointsOf(records)}
}

// pointsOf groups records by point and names the points.
func pointsOf(records []store.Record) []Point {
	facts := new(factCache)
	var points []*Point
	for _, g := range GroupBy(records, func(r store.Record) string { return r.PointID }) {
		p := &Point{ID: g.Name, Spec: g.Members[0].Spec, facts: facts}
		p.Records, p.Repeated = latestOf(g.Members)
		points = append(points, p)
	}
	nameAll(points)
	slices.SortStableFunc(points, func(a, b *Point) int {
		return cmp.Or(compareWorkloads(a, b), ComparePoints(*a, *b))
	})
	return lists.Map(points, func(p *Point) Point { return *p })
}

// Latest are the records that no later one supersedes, point by point, as reports use them.
func Latest(records []store.Record) []store.Record {
	return lists.Flat(GroupBy(records, func(r store.Record) string { return r.PointID }), func(g Group[store.Record]) []store.Record {
		latest, _ := latestOf(g.Members)
		return latest
	})
}

// latestOf returns the records of a point without those that a later one supersedes, and how many of these had ended ok. They come in
// the order in which they were stored.
func latestOf(records []store.Record) (latest []store.Record, repeated int) {
	superseded := make([]bool, len(records))
	open := map[int][]int{} // by repetition the few that may still be superseded: a broken promise never is
	for i, r := range records {
		left := open[r.Repetition][:0]
		for _, earlier := range open[r.Repetition] {
			if superseded[earlier] = supersedes(r, records[earlier]); !superseded[earlier] {
				left = append(left, earlier)
			} else if records[earlier].Status == store.OK {
				repeated++
			}
		}
		if r.Status != store.Failed || r.Result == nil || !BrokePromise(r) {
			left = append(left, i)
		}
		open[r.Repetition] = left
	}
	for i, r := range records {
		if !superseded[i] {
			latest = append(latest, r)
		}
	}
	return latest, repeated
}

// supersedes reports whether a record replaces an earlier one of the same point. It must be of the same repetition:
//
//	earlier                   later         superseded
//	ok                        ok            yes: a repetition that was run twice is no larger sample
//	ok                        other         no
//	failed, a promise broken  any           no: it stays broken
//	failed otherwise          ok or failed  yes: it was late, or no rate passed
//	failed otherwise          other         no, unless it has no result
//	any other                 any           yes
func supersedes(later, earlier store.Record) bool {
	if later.Repetition != earlier.Repetition {
		return false
	}
	switch earlier.Status {
	case store.OK:
		return later.Status == store.OK
	case store.Failed:
		measuredAgain := later.Status == store.OK || later.Status == store.Failed
		return earlier.Result == nil || measuredAgain && !BrokePromise(earlier)
	}
	return true
}

// BrokePromise reports whether the broker broke its promise in a record with a result: at its own load, at a rate of its curve, or in a
// trial of its search.
func BrokePromise(r store.Record) bool {
	broken := func(b Books, doubts []store.Doubt) bool {
		if slices.ContainsFunc(doubts, func(d store.Doubt) bool { return d.Is(doubt.Late) }) {
			b.LostAcked = 0 // late rather than lost
		}
		return Promise(r, b).Promise == ledger.Broken
	}
	ofRate := func(p store.CurvePoint) bool { return broken(p.Books, p.Doubts) }
	inTrial := func(t store.Trial) bool { return t.Broken }
	search := r.Result.Sustainable
	return broken(r.Result.Books, r.Doubts) || slices.ContainsFunc(r.Result.Curve, ofRate) ||
		search != nil && slices.ContainsFunc(search.Trials, inTrial)
}

// measures is the order in which kinds of measurement are shown. Others, such as imported results, come before them.
var measures = []string{
	study.MeasureSustainable, study.MeasureCurve, study.MeasurePeak, study.MeasureRate, study.MeasureCount, study.MeasureBacklog, study.MeasureRead,
}

// compareWorkloads orders points by message size, delivery, measure, rate and broker.
func compareWorkloads(a, b *Point) int {
	return cmp.Or(
		cmp.Compare(a.Spec.MessageSize.Mean(), b.Spec.MessageSize.Mean()),
		cmp.Compare(a.Spec.Delivery, b.Spec.Delivery),
		cmp.Compare(slices.Index(measures, a.Spec.Measure), slices.Index(measures, b.Spec.Measure)),
		cmp.Compare(a.Spec.Load.Rate, b.Spec.Load.Rate),
		cmp.Compare(a.Spec.Broker, b.Spec.Broker),
	)
}

// Group is items that belong together under a name.
type Group[T any] struct {
	Name    string
	Members []T // at least one
}

// GroupBy splits items by a key, which names their group. Groups keep the order in which they first appear, and so do the
// items of each: 1, 2, 3 by being odd or even are {odd: 1, 3} and {even: 2}.
func GroupBy[T any](items []T, key func(T) string) []Group[T] {
	var groups []Group[T]
	indexes := map[string]int{} // in groups, by name
	for _, item := range items {
		name := key(item)
		i, known := indexes[name]
		if !known {
			i = len(groups)
			indexes[name] = i
			groups = append(groups, Group[T]{Name: name})
		}
		groups[i].Members = append(groups[i].Members, item)
	}
	return groups
}

// BySetting groups the points that share a table or panel.
func BySetting(points []Point) []Group[Point] { return GroupBy(points, Point.Setting) }

// Pair holds the points of both sides of a comparison, A and B, with equal work: "100 B, at-least-once, rate 1k/s" of two
// brokers, or of two versions of one.
type Pair struct {
	Title string  // message size, guarantee and load
	A, B  []Point // either may be empty: only one side has this work
}

// OnlySide names the side that has points if only one has, "first" or "second". It is empty if both have.
func (p Pair) OnlySide() string {
	switch {
	case len(p.B) == 0:
		return "first"
	case len(p.A) == 0:
		return "second"
	}
	return ""
}
