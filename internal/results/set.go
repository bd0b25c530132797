package results

import "github.com/brokermark/brokermark/internal/store"

// Set is what stored records hold, computed once: reports, pages, figures, gates and spreadsheets choose from it.
type Set struct {
	Records []store.Record
	Points  []Point
}

// Of computes what records hold.
func Of(records []store.Record) *Set {
	return &Set{Records: records, Points: pointsOf(records)}
}

// Pair is the points of two sides that were given the same work.
type Pair struct {
	Title string // message size, guarantee and load
	A, B  []Point
}

// LoadPoints lists the load points of all points, in their order.
func (s *Set) LoadPoints() []LoadPoint { return LoadPointsOf(s.Points) }

// LoadPointsOf lists the load points of points, in their order.
func LoadPointsOf(points []Point) []LoadPoint {
	var all []LoadPoint
	for i, p := range points {
		all = append(all, LoadPoints(i, p)...)
	}
	return all
}
