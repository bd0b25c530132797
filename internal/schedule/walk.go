package schedule

import (
	"math/rand/v2"
	"sort"
)

// walk is a Poisson process for one goroutine that asks for arrivals roughly in order. The arrivals come in blocks of 2^bits (see
// poisson). Each block begins where the one before it ends, so a walk goes from block to block. It draws the arrivals only of the
// block that is asked for.
//
// It keeps the arrivals of two neighbouring blocks, because a sender that asks for due messages looks a little ahead of
// those that it sends. A sender that is behind looks further ahead, and goes back: for that it keeps where the last 64
// blocks lie.
type walk struct {
	poisson
	random  blockRandom
	last    block             // where the walk is
	visited [remembered]block // block n, if it is remembered, is in place n mod remembered; all places begin with block 0
	filled  [2]blockArrivals  // block n, if its arrivals are kept, is in place n mod 2
}

// remembered is how many blocks a walk can go back without beginning again. A sender looks at some thousand arrivals at most.
const remembered = 64

// block is where a block of arrivals lies.
type block struct {
	number        int64
	start, length int64    // ns; the last arrival is at start + length
	stream        rand.PCG // its random stream, from which the length has been drawn and the distances have not
}

// blockArrivals are the arrivals of one block.
type blockArrivals struct {
	number int64   // of the block; −1 if there is none yet
	at     []int64 // offsets
}

func (p poisson) walk() *walk {
	w := &walk{poisson: p}
	w.random.rng = rand.New(&w.random.source)
	for k := range w.filled {
		w.filled[k] = blockArrivals{number: -1, at: make([]int64, 1<<p.bits)}
	}
	w.last = w.drawBlock(0, 0)
	for k := range w.visited {
		w.visited[k] = w.last
	}
	return w
}

func (w *walk) At(i int64) int64 {
	number, inBlock := i>>w.bits, i&(1<<w.bits-1)
	if a := &w.filled[number%2]; a.number == number {
		return a.at[inBlock]
	}
	b := w.last
	if number < b.number {
		b = w.backTo(number)
	}
	for b.number < number {
		next, exists := w.next(b)
		if !exists {
			return Never
		}
		b = next
	}
	return w.arrivals(b)[inBlock]
}

func (w *walk) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	b := w.last
	for d <= b.start { // ends at block 0 at the latest, which starts at 0
		b = w.backTo(b.number - 1)
	}
	for b.start+b.length < d {
		next, exists := w.next(b)
		if !exists {
			return (b.number + 1) << w.bits
		}
		b = next
	}
	at := w.arrivals(b)
	return b.number<<w.bits + int64(sort.Search(len(at), func(k int) bool { return at[k] >= d }))
}

// backTo returns the block with that number, or block 0 if it isn't remembered where that lies.
func (w *walk) backTo(number int64) block {
	b := w.visited[number%remembered]
	if b.number != number {
		b = w.drawBlock(0, 0)
	}
	w.last = b
	return b
}

// next returns the block after b; exists is false past the end of time.
func (w *walk) next(b block) (_ block, exists bool) {
	after := w.drawBlock(b.number+1, b.start+b.length)
	if after.length >= Never-after.start {
		return block{}, false
	}
	w.last = after
	w.visited[after.number%remembered] = after
	return after, true
}

// drawBlock returns the block with that number, which begins at start.
func (w *walk) drawBlock(number, start int64) block {
	w.random.begin(w.seed, number)
	length := w.random.drawLength(1<<w.bits, w.rate)
	return block{number: number, start: start, length: length, stream: w.random.source}
}

// arrivals returns the offsets of a block's arrivals.
func (w *walk) arrivals(b block) []int64 {
	a := &w.filled[b.number%2]
	if a.number != b.number {
		w.random.source = b.stream
		w.random.drawArrivals(a.at, b.start, b.length)
		a.number = b.number
	}
	return a.at
}
