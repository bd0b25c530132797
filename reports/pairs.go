package reports

import "github.com/brokermark/brokermark/internal/results"

// Pair is the points of two sides that were given the same work.
type Pair struct {
	Title string // message size, guarantee and load
	A, B  []results.Point
}

// Pairs finds what Compare compares.
func Pairs(a, b Side, named ...string) []Pair {
	found, _ := matched(a, b, named)
	pairs := make([]Pair, len(found))
	for i, p := range found {
		pairs[i] = Pair{p.title, p.points[0], p.points[1]}
	}
	return pairs
}
