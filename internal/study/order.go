package study

import "math/rand/v2"

// Run is one repetition of one point.
type Run struct {
	Point      *Point // shared by all repetitions of the point
	Repetition int    // 1..repeats
}

// Order interleaves repeats of points: repetition by repetition, each in a seeded shuffle of its own, so that drift of
// the machine spreads evenly over the points. Points for which broker returns the same name share a broker in each repetition,
// so they come one after the other: blocks are shuffled, and the points of each. A point without a name is a block by itself, and all
// are if broker is nil. Equal arguments give equal orders. The runs refer to the elements of points.
func Order(points []Point, repeats int, seed int64, broker func(Spec) string) []Run {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x6272_6f6b_6572)) // any fixed number would do
	blocks := blocksOf(points, broker)
	runs := make([]Run, 0, len(points)*max(0, repeats))
	for r := 1; r <= repeats; r++ {
		for _, b := range rng.Perm(len(blocks)) {
			for _, p := range rng.Perm(len(blocks[b])) {
				runs = append(runs, Run{blocks[b][p], r})
			}
		}
	}
	return runs
}

// blocksOf returns the points that share a broker together, see Order.
func blocksOf(points []Point, broker func(Spec) string) (blocks [][]*Point) {
	at := map[string]int{} // the block of each name
	for i := range points {
		p, name := &points[i], ""
		if broker != nil {
			name = broker(p.Spec)
		}
		if b, ok := at[name]; ok && name != "" {
			blocks[b] = append(blocks[b], p)
			continue
		}
		at[name] = len(blocks)
		blocks = append(blocks, []*Point{p})
	}
	return blocks
}
