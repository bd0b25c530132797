package study

import "math/rand/v2"

// Run is one repetition of one point.
type Run struct {
	Point      Point
	Repetition int // 1..repeats
}

// Order interleaves repeats of points: repetition by repetition, each in its own seeded shuffle, so that drift of the machine
// spreads evenly over the points. Points for which broker returns the same name share a broker in each repetition, so they come
// one after the other: blocks are shuffled, and the points within each. A point without a name is a block by itself, and so are
// all points if broker is nil. Equal arguments give equal orders.
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

// blocksOf groups the points that share a broker, see Order.
func blocksOf(points []Point, broker func(Spec) string) (blocks [][]Point) {
	at := map[string]int{} // the block of each name
	for _, p := range points {
		name := ""
		if broker != nil {
			name = broker(p.Spec)
		}
		if i, ok := at[name]; ok && name != "" {
			blocks[i] = append(blocks[i], p)
			continue
		}
		at[name] = len(blocks)
		blocks = append(blocks, []Point{p})
	}
	return blocks
}
