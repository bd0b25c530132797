package worker

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/brokermark/brokermark/internal/wire"
)

// Keys says which key each message carries. The key is a pure function of a message's identity, so a consumer knows it
// without reading it.
type Keys struct {
	Kind     string // none | roundrobin | random | zipf
	N        int    // distinct keys
	Exponent float64
	Seed     int64
}

// some tells that messages have keys at all.
func (k Keys) some() bool { return k.Kind != "none" && k.Kind != "" }

// keys computes keys and holds their text. A nil *keys means that messages have none.
type keys struct {
	Keys
	text [][]byte  // by number of the key
	cdf  []float64 // zipf: cumulative probabilities, the last one 1
}

func newKeys(k Keys) (*keys, error) {
	if !k.some() {
		return nil, nil
	}
	switch k.Kind {
	case "roundrobin", "random", "zipf":
	default:
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
		var sum float64
		ks.cdf = make([]float64, k.N)
		for i := range ks.cdf {
			sum += math.Pow(float64(i+1), -k.Exponent)
			ks.cdf[i] = sum
		}
		for i := range ks.cdf {
			ks.cdf[i] /= sum
		}
	}
	return ks, nil
}

// of returns the number of the key, 0 to N-1, of message seq of a producer. Zipf's law is drawn by inversion of the cumulative
// distribution.
func (k *keys) of(producer int, seq uint64) int {
	if k.Kind == "roundrobin" {
		return int(seq % uint64(k.N))
	}
	r := mix(uint64(k.Seed) ^ mix(uint64(wire.MakeID(uint32(producer), seq))) ^ 0x5bf03635)
	if k.Kind == "random" {
		return int(r % uint64(k.N))
	}
	return min(sort.SearchFloat64s(k.cdf, float64(r>>11)/(1<<53)), k.N-1)
}
