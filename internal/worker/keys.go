package worker

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/wire"
)

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
