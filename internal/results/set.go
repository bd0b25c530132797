package results

import "github.com/brokermark/brokermark/internal/store"

// Set holds stored records as points, computed once: reports, pages, figures, gates and spreadsheets choose from it.
type Set struct {
	Records []store.Record
	Points  []Point
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

// LoadPointsOf lists the load points of points, in their order.
func LoadPointsOf(points []Point) []LoadPoint {
	var all []LoadPoint
	for _, p := range points {
		all = append(all, p.LoadPoints()...)
	}
	return all
}
