package worker

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/brokermark/brokermark/internal/wire"
)

// Keys says which key each message carries. Keys are the numbers 0 to N-1 as decimal text. A message's key is a pure function of its
// producer and sequence number, so a consumer knows it without reading it.
type Keys struct {
	Kind     string  // none | roundrobin | random | zipf; "" is none
	N        int     // distinct keys
	Exponent float64 // of zipf: key k has a probability proportional to 1/(k+1)^Exponent
	Seed     int64   // of random and zipf
}

// some reports whether messages have keys.
func (k Keys) some() bool { return k.Kind != "none" && k.Kind != "" }

// keys computes keys and holds their text. A nil *keys means that messages have none.
type keys struct {
	Keys
	text       [][]byte  // by number of the key
	cumulative []float64 // zipf: probability of this key or a lower one; the last is 1
}

func newKeys(k Keys) (*keys, error) {
	if !k.some() {
		return nil, nil
	}
	if !slices.Contains([]string{"roundrobin", "random", "zipf"}, k.Kind) {
		return nil, fmt.Errorf("keys: %q is not one of none, roundrobin, random, zipf", k.Kind)
	}
	if k.N < 1 {
		return nil, fmt.Errorf("keys: %d distinct keys; at least 1 is needed", k.N)
	}
	ks := &keys{Keys: k, text: make([][]byte, k.N)}
	for i := range ks.text {
		ks.text[i] = strconv.AppendInt(nil, int64(i), 10)
	}
	if k.Kind == "zipf" {
		ks.cumulative = zipf(k.N, k.Exponent)
	}
	return ks, nil
}

// zipf returns the cumulative probabilities of Zipf's law for n keys. With exponent 1, three keys have 6/11, 3/11 and 2/11, so
// it returns 0.55, 0.82 and 1.
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
func (k *keys) of(producer int, seq uint64) int {
	if k.Kind == "roundrobin" {
		return int(seq % uint64(k.N))
	}
	const stream = 0x5bf03635 // keeps keys independent of payloads that have the same seed
	r := mix(uint64(k.Seed) ^ mix(uint64(wire.MakeID(uint32(producer), seq))) ^ stream)
	if k.Kind == "random" {
		return int(r % uint64(k.N))
	}
	return min(sort.SearchFloat64s(k.cumulative, uniform(r)), k.N-1) // inverse transform sampling
}
