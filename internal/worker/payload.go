package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
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

// Keys says which key each message carries. Keys are the numbers 0 to N-1 as decimal text. A message's key is a pure function of
// its producer and sequence number, so a consumer knows it without reading it.
type Keys struct {
	Kind     string  // none | roundrobin | random | zipf; "" is none
	N        int     // distinct keys
	Exponent float64 // of zipf: key k has a probability proportional to 1/(k+1)^Exponent
	Seed     int64   // of random and zipf
}

// some reports whether messages have keys.
func (k Keys) some() bool { return k.Kind != "none" && k.Kind != "" }

// keyChooser chooses the key of each message. A nil *keyChooser means that messages have none.
type keyChooser struct {
	spec       Keys
	text       [][]byte  // by number of the key
	cumulative []float64 // only of zipf, by number of the key: probability of this key or a lower one; the last is 1
}

// newKeyChooser returns nil if messages have no keys.
func newKeyChooser(spec Keys) (*keyChooser, error) {
	if !spec.some() {
		return nil, nil
	}
	if !slices.Contains([]string{"roundrobin", "random", "zipf"}, spec.Kind) {
		return nil, fmt.Errorf("keys: %q is not one of none, roundrobin, random, zipf", spec.Kind)
	}
	if spec.N < 1 {
		return nil, fmt.Errorf("keys: %d distinct keys; at least 1 is needed", spec.N)
	}
	k := &keyChooser{spec: spec, text: make([][]byte, spec.N)}
	for i := range k.text {
		k.text[i] = strconv.AppendInt(nil, int64(i), 10)
	}
	if spec.Kind == "zipf" {
		k.cumulative = zipf(spec.N, spec.Exponent)
	}
	return k, nil
}

// zipf returns the cumulative probabilities of Zipf's law for n keys. With exponent 1, three keys have 6/11, 3/11 and 2/11, so it
// returns 0.55, 0.82 and 1.
func zipf(n int, exponent float64) []float64 {
	cumulative := make([]float64, n)
	var sum float64
	for i := range cumulative {
		sum += math.Pow(float64(i+1), -exponent)
		cumulative[i] = sum
	}
	for i := range cumulative {
		cumulative[i] /= sum
	}
	return cumulative
}

// of returns the number of the key that message seq of a producer carries, 0 to N-1.
func (k *keyChooser) of(producer int, seq uint64) int {
	n := uint64(k.spec.N)
	if k.spec.Kind == "roundrobin" {
		return int(seq % n)
	}
	const salt = 0x5bf03635 // keeps keys independent of payloads that have the same seed
	r := schedule.Mix(uint64(k.spec.Seed) ^ schedule.Mix(uint64(wire.MakeID(uint32(producer), seq))) ^ salt)
	if k.spec.Kind == "random" {
		return int(r % n)
	}
	key, _ := slices.BinarySearch(k.cumulative, unitInterval(r)) // inverse transform sampling
	return min(key, k.spec.N-1)                                  // also if rounding left the last probability below 1
}

// headers are the headers of every message: first the stamp, if payloads are left untouched, then the headers of the plan. For
// the header "trace" and untouched payloads, the names are "brokermark" and "trace".
type headers struct {
	Stamped bool            // the first header is the stamp
	Own     []driver.Header // of the plan; every message has the same values
}

// headers returns the headers of the plan's messages.
func (p *Plan) headers() headers { return headers{p.Payload.Untouched, p.Headers} }

// any reports whether messages carry headers.
func (h headers) any() bool { return h.Stamped || len(h.Own) > 0 }

// names lists the names of all headers.
func (h headers) names() []string {
	var names []string
	if h.Stamped {
		names = append(names, wire.Name)
	}
	for _, own := range h.Own {
		names = append(names, own.Name)
	}
	return names
}

// values makes the header values of a slot's messages. The stamp's value is written for each message.
func (h headers) values() [][]byte {
	var values [][]byte
	if h.Stamped {
		values = append(values, make([]byte, wire.TextSize))
	}
	for _, own := range h.Own {
		values = append(values, own.Value)
	}
	return values
}

// size is the number of bytes that headers add to a message.
func (h headers) size() int {
	all := h.Own
	if h.Stamped {
		all = append([]driver.Header{{Name: wire.Name, Value: make([]byte, wire.TextSize)}}, all...)
	}
	return driver.HeaderBytes(all)
}

// HeaderSize returns the number of bytes that headers add to a message of the plan.
func (p *Plan) HeaderSize() int { return p.headers().size() }

// read reads the stamp of a message from its header, or from its payload if it has no stamp header. A message of this run is
// damaged if its own headers did not arrive unchanged.
func (h headers) read(header *wire.Header, m *driver.Received, run uint16) (status wire.Status) {
	got := m.Headers.Values()
	if h.Stamped && len(got) > 0 && got[0] != nil {
		status = header.ReadText(got[0], m.Payload)
	} else {
		status = header.Read(wire.Split(m.Payload))
	}
	if len(h.Own) == 0 || header.Timed && header.Run != run {
		return status
	}
	if h.Stamped && len(got) > 0 {
		got = got[1:]
	}
	for i, own := range h.Own {
		if i >= len(got) || !bytes.Equal(got[i], own.Value) {
			return wire.Damaged
		}
	}
	return status
}
