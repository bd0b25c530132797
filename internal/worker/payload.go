package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/wire"
)

// Payload describes what messages carry.
type Payload struct {
	Sizes   []Size  // of made-up payloads; weights need not add up to 1
	Random  float64 // share of made-up payloads that doesn't compress, 0..1
	Pool    int     // how many different made-up payloads of each size
	Samples string  // instead: a file, or a directory of files, with real payloads
	// Given are the real payloads where they have been read already; Samples then only says whence.
	Given [][]byte
	Seed  int64
}

// Size is a payload size in bytes and its weight.
type Size struct {
	Bytes  int
	Weight float64
}

// bodies are the payloads to send, ready but for their header.
type bodies struct {
	all    [][]byte
	sums   []uint64
	groups []group // one per size; one for all samples
	seed   uint64
	run    uint16
	size   int // of the largest
	// uniform: every size is the same. A slot then keeps its body, which saves choosing and copying one.
	uniform bool
	mean    float64 // bytes, over the distribution
}

type group struct {
	first, n int
	upTo     float64 // cumulative weight, 0..1
}

func newBodies(p Payload, run uint16) (*bodies, error) {
	b := &bodies{seed: uint64(p.Seed), run: run}
	if len(p.Given) > 0 {
		err := b.take(p.Given)
		b.uniform = err == nil && b.shortest() == b.size
		return b, err
	}
	if p.Samples != "" {
		err := b.load(p.Samples)
		b.uniform = err == nil && b.shortest() == b.size
		return b, err
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

// maxSamples bounds the memory that real samples may take, in bytes.
const maxSamples = 64 << 20

// take makes bodies of payloads that others keep.
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

func (b *bodies) load(path string) error {
	var names []string
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("payload samples: %w", err)
	}
	slices.Sort(names)
	var total int
	for _, name := range names {
		body, err := bounded.File(name, int64(maxSamples-total))
		if errors.Is(err, bounded.ErrTooLong) {
			return fmt.Errorf("payload samples in %s take more than %d MiB", path, maxSamples>>20)
		}
		if err != nil {
			return fmt.Errorf("payload samples: %w", err)
		}
		if len(body) < wire.IDSize {
			return fmt.Errorf("payload sample %s has %d bytes; at least %d are needed for the message's identity", name, len(body), wire.IDSize)
		}
		if total += len(body); total > maxSamples {
			return fmt.Errorf("payload samples in %s take more than %d MiB", path, maxSamples>>20)
		}
		b.add(body)
		b.mean += float64(len(body))
	}
	if len(b.all) == 0 {
		return errors.New("payload samples: no file in " + path)
	}
	b.mean /= float64(len(b.all))
	b.groups = []group{{0, len(b.all), 1}}
	return nil
}

// pick chooses the body of message seq of a producer; a pure function.
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
