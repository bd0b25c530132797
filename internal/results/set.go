package results

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Set holds stored records as points, computed once: reports, pages, figures, gates and
// spreadsheets choose from it.
type Set struct {
	Records []store.Record
	Points  []Point // by message size, delivery, measure, rate and broker, then by their names
}

// Of makes a set of records.
func Of(records []store.Record) *Set {
	return &Set{Records: records, Points: pointsOf(records)}
}

// Pair is the points of two sides that were given the same work.
type Pair struct {
	Title string // message size, guarantee and load
	A, B  []Point
}

// pointsOf groups records by point and names the points.
func pointsOf(records []store.Record) []Point {
	facts := &factCache{}
	var points []*Point
	for _, g := range GroupBy(records, func(r store.Record) string { return r.PointID }) {
		p := &Point{ID: g.Name, Spec: g.Members[0].Spec, facts: facts}
		for _, r := range g.Members {
			p.add(r)
		}
		points = append(points, p)
	}
	slices.SortStableFunc(points, compareWorkloads)
	nameAll(points)
	slices.SortStableFunc(points, func(a, b *Point) int {
		return cmp.Or(compareWorkloads(a, b), ComparePoints(*a, *b))
	})
	out := make([]Point, len(points))
	for i, p := range points {
		out[i] = *p
	}
	return out
}

// add adds a record, and drops the earlier ones that it supersedes.
func (p *Point) add(r store.Record) {
	p.Records = slices.DeleteFunc(p.Records, func(earlier store.Record) bool {
		superseded := earlier.Repetition == r.Repetition && supersedes(r, earlier)
		if superseded && earlier.Status == store.OK {
			p.Repeated++
		}
		return superseded
	})
	p.Records = append(p.Records, r)
}

// supersedes tells whether a record takes the place of an earlier one of the same repetition.
func supersedes(later, earlier store.Record) bool {
	switch earlier.Status {
	case store.OK:
		// A repetition that was run twice is not a larger sample. Imported records are not numbered
		// (0): each is a repetition.
		return later.Status == store.OK && later.Repetition > 0
	case store.Failed:
		return earlier.Result == nil // a failure with a result is a broken promise, which stays broken
	}
	return true
}

// measures is the order in which kinds of measurement are shown.
var measures = []string{
	study.MeasureSustainable, study.MeasureCurve, study.MeasurePeak, study.MeasureRate, study.MeasureCount, study.MeasureBacklog,
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
