package schedule

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Poisson sends at independent, exponentially distributed distances, as many unrelated users do together. rate is in
// messages per second; the same rate and seed give the same arrivals. At and Count cost tens of nanoseconds for every
// thousand arrivals before the one asked for; Sequential makes that constant.
func Poisson(rate float64, seed uint64) (Schedule, error) {
	if _, err := quantaOf("poisson rate", rate); err != nil {
		return nil, err
	}
	return poisson{rate, seed, blockBits}, nil
}

type poisson struct {
	rate float64
	seed uint64
	bits int // a block has 2^bits arrivals
}

func (p poisson) At(i int64) int64     { return p.sequential().At(i) }
func (p poisson) Count(d int64) int64  { return p.sequential().Count(d) }
func (p poisson) sequential() Schedule { return p.walk() }

func (p poisson) Rate(t int64) float64 {
	if t < 0 {
		return 0
	}
	return p.rate
}

// Arrivals come in blocks of a fixed number, each with its own random stream made from seed and block number. The length
// of a block is the sum of its exponential distances, so it is drawn from the Gamma distribution of such sums. Given the
// sum, the ratios of the distances to it are independent of it (Devroye, Non-Uniform Random Variate Generation, 1986,
// ch. V, theorem 2.2). So the block is filled with exponentials that are scaled to the length drawn. This is exactly a
// Poisson process, and a block can be skipped without making its arrivals.
const blockBits = 10

type block struct {
	span
	filled bool    // at holds the arrivals of this block
	at     []int64 // offsets; the last one is start + length
}

// span is where a block lies.
type span struct {
	number, start, length int64 // start and length in ns
	known                 bool  // false in a place of walk.spans that was not used yet
}

// walk is a Poisson process for one goroutine. It keeps two neighbouring blocks, because a sender that asks what is due
// looks a little ahead of what it sends. A sender that is behind looks further ahead, and goes back: where the last blocks
// lie is remembered, so that it need not walk there from the beginning.
type walk struct {
	poisson
	blocks  [2]block         // block n is in place n mod 2
	spans   [remembered]span // of the last blocks; block n is in place n mod remembered
	source  rand.PCG
	rng     *rand.Rand // draws from source
	current *block     // the block used last; nil at first
}

// remembered is how many blocks a walk can go back without beginning again. A sender looks at some thousand arrivals at most.
const remembered = 64

func (p poisson) walk() *walk {
	w := &walk{poisson: p}
	w.rng = rand.New(&w.source)
	for i := range w.blocks {
		w.blocks[i].at = make([]int64, 1<<p.bits)
	}
	return w
}

func (w *walk) sequential() Schedule { return w.walk() }

func (w *walk) At(i int64) int64 {
	number, inBlock := i>>w.bits, i&(1<<w.bits-1)
	b := w.current
	if b == nil || b.number != number || !b.filled {
		if b = w.seek(number); b == nil {
			return Never
		}
	}
	return b.at[inBlock]
}

func (w *walk) Count(d int64) int64 {
	if d <= 0 {
		return 0
	}
	b := w.current
	if b == nil || d <= b.start {
		b = w.restart()
	}
	for b.start+b.length < d {
		next := w.next(b)
		if next == nil {
			return (b.number + 1) << w.bits
		}
		b = next
	}
	w.fill(b)
	return b.number<<w.bits + int64(sort.Search(len(b.at), func(k int) bool { return b.at[k] >= d }))
}

// seek makes the block with that number the one used last, and returns it, filled; nil past the end of time. It goes forward
// from the last block used. If the number is lower, it goes back to where that block lies, or begins again if that isn't
// remembered.
func (w *walk) seek(number int64) *block {
	if b := &w.blocks[number%2]; b.filled && b.number == number {
		w.current = b
		return b
	}
	b := w.current
	if b == nil || number < b.number {
		b = w.back(number)
	}
	for b.number < number {
		if b = w.next(b); b == nil {
			return nil
		}
	}
	w.fill(b)
	return b
}

// restart begins again with block 0.
func (w *walk) restart() *block {
	return w.place(span{length: w.drawLength(0), known: true})
}

// back returns the block with that number, or block 0 if it isn't remembered where that lies.
func (w *walk) back(number int64) *block {
	if s := w.spans[number%remembered]; s.known && s.number == number {
		return w.place(s)
	}
	return w.restart()
}

// place makes the block that lies at s the one used last. It is not filled.
func (w *walk) place(s span) *block {
	b := &w.blocks[s.number%2]
	*b = block{span: s, at: b.at}
	w.spans[s.number%remembered] = s
	w.current = b
	return b
}

// next makes the block after b, in the place of the one before b; nil past the end of time.
func (w *walk) next(b *block) *block {
	start, number := b.start+b.length, b.number+1
	length := w.drawLength(number)
	if length >= Never-start {
		return nil
	}
	return w.place(span{number: number, start: start, length: length, known: true})
}

// fill makes the arrivals of a block.
func (w *walk) fill(b *block) {
	if b.filled {
		return
	}
	w.drawLength(b.number)              // the stream goes on with the distances
	var space [1 << blockBits]float64   // on the stack; a block has no more arrivals
	ends, sum := space[:len(b.at)], 0.0 // sums of exponential distances, not yet scaled
	for k := range ends {
		sum += w.rng.ExpFloat64()
		ends[k] = sum
	}
	for k, end := range ends {
		b.at[k] = b.start + int64(end/sum*float64(b.length))
	}
	b.at[len(b.at)-1] = b.start + b.length
	b.filled = true
}

// drawLength starts a block's random stream, and draws the block's length from it: a Gamma variable in ns, by the method of
// Marsaglia and Tsang (A simple method for generating gamma variables, 2000). What the stream gives next is for the distances.
func (w *walk) drawLength(number int64) int64 {
	w.source.Seed(mix(w.seed), mix(uint64(number)^0x6a09e667f3bcc908))
	d := float64(int64(1)<<w.bits) - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := w.rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-w.rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return int64(min(math.Round(d*v/w.rate*1e9), float64(Never/2)))
		}
	}
}

// mix is the finaliser of SplitMix64: neighbouring numbers become unrelated seeds.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
