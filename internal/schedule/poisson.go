package schedule

import (
	"math"
	"math/rand/v2"
)

// Poisson sends at independent, exponentially distributed distances, as many unrelated users do together. rate is in
// messages per second; the same rate and seed give the same arrivals. At and Count cost tens of nanoseconds for every
// thousand arrivals before the one asked for; Sequential makes that constant.
func Poisson(rate float64, seed uint64) (Schedule, error) {
	if err := checkRate("poisson rate", rate); err != nil {
		return nil, err
	}
	return poisson{rate, seed, blockBits}, nil
}

// poisson is a Poisson process as a list of blocks of 2^bits arrivals each, in the order of time. A block has a random stream
// of its own, made from the seed and the block's number. The stream first gives the block's length, the time from the last
// arrival of the block before to its own last one: a sum of exponential distances, which is drawn as such from the Gamma
// distribution. Then it gives exponential distances, which are scaled so that their sum is that length.
//
// This is exactly a Poisson process, because the ratios of exponential distances to their sum are independent of the sum
// (Devroye, Non-Uniform Random Variate Generation, 1986, ch. V, theorem 2.2). And a block is skipped with two or three random
// numbers instead of a thousand, so it is soon known how many arrivals come within an hour.
type poisson struct {
	rate float64 // messages per second
	seed uint64
	bits int
}

// blockBits makes blocks of 1024 arrivals.
const blockBits = 10

func (p poisson) At(i int64) int64     { return p.walk().At(i) }
func (p poisson) Count(d int64) int64  { return p.walk().Count(d) }
func (p poisson) sequential() Schedule { return p.walk() }

func (p poisson) Rate(t int64) float64 {
	if t < 0 {
		return 0
	}
	return p.rate
}

// blockRandom draws the random numbers of one block after the other.
type blockRandom struct {
	source rand.PCG
	rng    *rand.Rand // draws from source
}

// begin begins the random stream of a block. The constant, digits of √2, keeps the two seeds apart if seed equals number.
func (r *blockRandom) begin(seed uint64, number int64) {
	r.source.Seed(Mix(seed), Mix(uint64(number)^0x6a09e667f3bcc908))
}

// drawLength draws the length of a block of n arrivals, in ns, at a rate in messages per second: a Gamma variable, by the
// method of Marsaglia and Tsang (A simple method for generating gamma variables, 2000).
func (r *blockRandom) drawLength(n int, rate float64) int64 {
	d := float64(n) - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-r.rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return int64(min(math.Round(d*v/rate*1e9), float64(Never/2)))
		}
	}
}

// drawArrivals sets at to the offsets of arrivals at exponential distances, of which the last is at start + length.
func (r *blockRandom) drawArrivals(at []int64, start, length int64) {
	var space [1 << blockBits]float64 // on the stack; no block has more arrivals
	ends, sum := space[:len(at)], 0.0 // sums of distances, not yet scaled
	for k := range ends {
		sum += r.rng.ExpFloat64()
		ends[k] = sum
	}
	for k, end := range ends {
		at[k] = start + int64(end/sum*float64(length))
	}
	at[len(at)-1] = start + length // exactly, however long: float64(length) may be rounded
}

// Mix does one step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): neighbouring
// numbers become unrelated seeds.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
