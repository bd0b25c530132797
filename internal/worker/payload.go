package worker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/brokermark/brokermark/internal/wire"
)

// Payload says what messages carry: made-up payloads of some sizes, or given ones.
type Payload struct {
	Sizes   []Size   // of made-up payloads; weights need not add up to 1
	Random  float64  // share of each made-up payload that doesn't compress, 0..1; it comes first
	Pool    int      // how many different made-up payloads there are of each size
	Samples string   // where given payloads come from, for messages; empty: payloads are made up
	Given   [][]byte // given payloads, which are not changed
	Seed    int64
}

// Size is a payload size in bytes and its weight.
type Size struct {
	Bytes  int
	Weight float64
}

// bodies are the payloads to send, complete but for their header.
type bodies struct {
	all    [][]byte
	sums   []uint64 // checksums, by index into all
	groups []group  // one per size, in the order of their cumulative weights; one for all samples
	seed   uint64
	run    uint16
	size   int // bytes of the largest; at least wire.IDSize
	// uniform: every size is the same. A slot then keeps its body, which saves choosing and copying one for each message.
	uniform bool
	mean    float64 // bytes, over the distribution
}

// group is all bodies of one size.
type group struct {
	first, n int     // all[first : first+n]
	upTo     float64 // cumulative weight, 0..1
}

func newBodies(p Payload, run uint16) (*bodies, error) {
	b := &bodies{seed: uint64(p.Seed), run: run}
	if p.Samples != "" && len(p.Given) == 0 {
		return nil, fmt.Errorf("payload samples: those of %s were not read", p.Samples)
	}
	if len(p.Given) > 0 {
		err := b.take(p.Given)
		b.uniform = err == nil && b.shortest() == b.size
		return b, err
	}
	if len(p.Sizes) == 0 {
		return nil, errors.New("payload: neither sizes nor samples are given")
	}
	rng := rand.New(rand.NewPCG(uint64(p.Seed), 0x9e3779b97f4a7c15))
	var total, sum float64
	for _, s := range p.Sizes {
		total += s.Weight
	}
	for _, s := range p.Sizes {
		if s.Bytes < wire.IDSize {
			return nil, fmt.Errorf("message size %d: at least %d bytes are needed for the message's identity", s.Bytes, wire.IDSize)
		}
		sum += s.Weight
		n := max(1, p.Pool)
		b.groups = append(b.groups, group{len(b.all), n, sum / total})
		for range n {
			body := make([]byte, s.Bytes)
			fill(body[:int(float64(s.Bytes)*p.Random+0.5)], rng)
			b.add(body)
		}
		b.mean += float64(s.Bytes) * s.Weight / total
	}
	b.uniform = b.shortest() == b.size
	return b, nil
}

// shortest returns the bytes of the smallest body.
func (b *bodies) shortest() int {
	n := b.size
	for _, body := range b.all {
		n = min(n, len(body))
	}
	return n
}

func (b *bodies) add(body []byte) {
	b.all = append(b.all, body)
	b.sums = append(b.sums, wire.Prepare(body, b.run))
	b.size = max(b.size, len(body))
}

// fill fills b with random bytes.
func fill(b []byte, rng *rand.Rand) {
	for len(b) >= 8 {
		v := rng.Uint64()
		for i := range 8 {
			b[i] = byte(v >> (8 * i))
		}
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

// take makes bodies of given payloads, which it copies.
func (b *bodies) take(given [][]byte) error {
	for i, body := range given {
		if len(body) < wire.IDSize {
			return fmt.Errorf("payload sample %d has %d bytes; at least %d are needed for the message's identity", i+1, len(body), wire.IDSize)
		}
		b.add(slices.Clone(body))
		b.mean += float64(len(body)) / float64(len(given))
	}
	b.groups = []group{{0, len(given), 1}}
	return nil
}

// pick returns the index of the body of message seq of a producer. It is a pure function, so a run can be repeated.
func (b *bodies) pick(producer int, seq uint64) int {
	r := mix(b.seed ^ mix(uint64(wire.MakeID(uint32(producer), seq))))
	at := float64(r>>11) / (1 << 53)
	for _, g := range b.groups {
		if at < g.upTo || g.first+g.n == len(b.all) {
			return g.first + int(mix(r)%uint64(g.n))
		}
	}
	return 0
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
