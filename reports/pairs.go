package reports

import "github.com/brokermark/brokermark/internal/results"

// Pair is the points of two sides that were given the same work.
type Pair = results.Pair

// Pairs finds the pairs that Compare compares.
func Pairs(a, b Side, named ...string) []Pair {
	found, _ := matched(a, b, named)
	pairs := make([]Pair, len(found))
	for i, p := range found {
		pairs[i] = Pair{Title: p.title, A: p.points[0], B: p.points[1]}
	}
	return pairs
}
