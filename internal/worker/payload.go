package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/wire"
)

// Payload says what messages carry: samples that are given, or generated payloads of some sizes.
type Payload struct {
	Sizes   []Size   // of generated payloads
	Random  float64  // share of each generated payload, from its start, that is random and doesn't compress, 0 to 1; the rest is zero
	Pool    int      // different generated payloads of each size; 0: one
	Samples string   // where the samples come from, for error messages; empty: payloads are generated
	Given   [][]byte // the samples, which are not changed
	// Untouched sends payloads as they are, with the message's stamp in a header. Otherwise their first bytes become the stamp.
	Untouched bool
	Seed      int64 // of contents and of the choice for each message
}

// Size is a payload size in bytes. Payloads have it with a probability of Weight over the sum of all weights.
type Size struct {
	Bytes  int
	Weight float64
}

// bodies are the payloads that messages choose from. With sizes of 100 and 1000 bytes and a pool of 4, there are 8.
type bodies struct {
	all               []body
	groups            []bodyGroup
	seed              uint64
	run               uint16
	untouched         bool    // see Payload.Untouched
	smallest, largest int     // bytes; smallest is at least wire.IDSize
	meanBytes         float64 // expected size of a message
}

// body is one payload, complete but for the stamp that each message gets.
type body struct {
	content []byte
	bodySum uint64 // from wire.Prepare, for wire.Stamp
}

// bodyGroup is the bodies of one size, or all samples. Sizes of 100 and 1000 bytes with weights 3 and 1 and a pool of 4 make the
// groups {first: 0, n: 4, upTo: 0.75} and {first: 4, n: 4, upTo: 1}.
type bodyGroup struct {
	first, n int     // the bodies all[first:first+n]
	upTo     float64 // probability of this group or one before it
}

func newBodies(p Payload, run uint16) (*bodies, error) {
	b := &bodies{seed: uint64(p.Seed), run: run, untouched: p.Untouched, smallest: math.MaxInt}
	switch {
	case len(p.Given) > 0:
		return b, b.addSamples(p.Given)
	case p.Samples != "":
		return nil, fmt.Errorf("payload samples: those of %s were not read", p.Samples)
	}
	return b, b.generate(p)
}

// addSamples adds copies of samples, which are all equally likely.
func (b *bodies) addSamples(samples [][]byte) error {
	for i, sample := range samples {
		if len(sample) < wire.IDSize {
			return fmt.Errorf("payload sample %d has %d bytes; at least %d are needed for the message's identity", i+1, len(sample), wire.IDSize)
		}
		b.add(slices.Clone(sample))
		b.meanBytes += float64(len(sample)) / float64(len(samples))
	}
	b.groups = []bodyGroup{{first: 0, n: len(samples), upTo: 1}}
	return nil
}

// generate adds the bodies of all sizes.
func (b *bodies) generate(p Payload) error {
	if len(p.Sizes) == 0 {
		return errors.New("payload: neither sizes nor samples are given")
	}
	if !(p.Random >= 0 && p.Random <= 1) { // NaN is refused as well
		return fmt.Errorf("payload: the random share %g is not between 0 and 1", p.Random)
	}
	var total float64
	for _, s := range p.Sizes {
		if s.Weight < 0 {
			return fmt.Errorf("payload: the weight %g of size %d is below 0", s.Weight, s.Bytes)
		}
		total += s.Weight
	}
	if !(total > 0 && total <= math.MaxFloat64) { // NaN is refused as well
		return fmt.Errorf("payload: weights of sizes add up to %g, not to a positive number", total)
	}
	rng := rand.New(rand.NewPCG(uint64(p.Seed), golden))
	n, sum := max(1, p.Pool), 0.0
	for _, s := range p.Sizes {
		if s.Bytes < wire.IDSize {
			return fmt.Errorf("message size %d: at least %d bytes are needed for the message's identity", s.Bytes, wire.IDSize)
		}
		sum += s.Weight
		b.groups = append(b.groups, bodyGroup{first: len(b.all), n: n, upTo: sum / total})
		for range n {
			content := make([]byte, s.Bytes)
			fillRandom(content[:int(float64(s.Bytes)*p.Random+0.5)], rng)
			b.add(content)
		}
		b.meanBytes += float64(s.Bytes) * s.Weight / total
	}
	return nil
}

func (b *bodies) add(content []byte) {
	stamp, rest := wire.Split(content)
	if b.untouched {
		stamp, rest = b.newStamp(), content
	}
	b.all = append(b.all, body{content: content, bodySum: wire.Prepare(stamp, rest, b.run)})
	b.smallest = min(b.smallest, len(content))
	b.largest = max(b.largest, len(content))
}

// newStamp makes a stamp that is no part of a payload.
func (b *bodies) newStamp() []byte {
	stamp := make([]byte, wire.HeaderSize)
	wire.Prepare(stamp, nil, b.run)
	return stamp
}

// untimed reports whether some messages are too short to carry their times.
func (b *bodies) untimed() bool { return !b.untouched && b.smallest < wire.HeaderSize }

// sameSize reports whether all bodies have the same size. A slot then keeps its body, which saves choosing and copying one per
// message.
func (b *bodies) sameSize() bool { return b.smallest == b.largest }

// pick returns the index of the body of message seq of a producer. It is a pure function, so that a run can be repeated.
func (b *bodies) pick(producer int, seq uint64) int {
	r := schedule.Mix(b.seed ^ schedule.Mix(uint64(wire.MakeID(uint32(producer), seq))))
	u, last := unitInterval(r), len(b.groups)-1
	i := sort.Search(last, func(i int) bool { return u < b.groups[i].upTo }) // last also if rounding left its upTo below 1
	group := b.groups[i]
	return group.first + int(schedule.Mix(r)%uint64(group.n))
}

// fillRandom fills b with random bytes.
func fillRandom(b []byte, rng *rand.Rand) {
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, rng.Uint64())
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

// golden is 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// unitInterval maps 64 random bits to a number in [0, 1).
func unitInterval(r uint64) float64 { return float64(r>>11) / (1 << 53) }
