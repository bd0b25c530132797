package study

import (
	"math/rand/v2"
	"slices"
)

// Run is one repetition of one point.
type Run struct {
	Point      Point
	Repetition int // 1..repeats
}

// Order interleaves repeats of points: repetition by repetition, each in a seeded shuffle of its own, so that drift of
// the machine spreads evenly over the points. Equal arguments give equal orders.
func Order(points []Point, repeats int, seed int64) []Run {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x6272_6f6b_6572)) // any fixed stream will do
	runs := make([]Run, 0, len(points)*max(0, repeats))
	for r := 1; r <= repeats; r++ {
		round := slices.Clone(points)
		rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		for _, p := range round {
			runs = append(runs, Run{p, r})
		}
	}
	return runs
}
