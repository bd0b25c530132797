package main

import (
	"math/bits"

	"github.com/brokermark/brokermark/internal/results"
)

// sample is what one run of one contender gave.
type sample struct {
	Rate     float64 `json:"rate"`                             // messages per second through the whole path: sent, and where the row consumes also received
	Received float64 `json:"received,omitempty"`               // per second in the same time; 0 where nothing consumes
	CPU      float64 `json:"cpu_s_per_million"`                // of the generator, seen from outside
	OwnCPU   float64 `json:"own_cpu_s_per_million,omitempty"`  // what Brokermark's own record says
	LoadCPU  float64 `json:"load_cpu_s_per_million,omitempty"` // of CPU, what was used while messages passed; 0: all of it
	Cores    float64 `json:"cores"`
	P50      int64   `json:"e2e_p50_ns,omitempty"`
	Lag      int64   `json:"lag_p99_ns,omitempty"`
	Took     int64   `json:"took_ns,omitempty"`          // of a search, from the start of the broker to the record
	First    int64   `json:"first_message_ns,omitempty"` // from the program's start to its first delivery
	Memory   int64   `json:"resident_bytes"`
	Note     string  `json:"note,omitempty"`
}

// perMillion is processor seconds for a million messages.
func perMillion(cores, rate float64) float64 { return cores / rate * 1e6 }

func median(values []float64) float64 { return results.Summarize(values).Median }

// each picks one figure of every sample.
func each(samples []sample, of func(sample) float64) []float64 {
	var list []float64
	for _, s := range samples {
		list = append(list, of(s))
	}
	return list
}

// ratios divides pair by pair: what the machine did to both of a pair cancels out.
func ratios(a, b []sample, of func(sample) float64) []float64 {
	var list []float64
	for i := range min(len(a), len(b)) {
		list = append(list, of(a[i])/of(b[i]))
	}
	return list
}

func rateOf(s sample) float64 { return s.Rate }
func cpuOf(s sample) float64  { return s.CPU }

// enough is how many messages take about the measured time, in tens of thousands.
func (b *bench) enough(s sample) int64 {
	const round = 10_000
	return max(1, int64(s.Rate*b.measure.Seconds())/round) * round
}

// latencies is a histogram with 16 steps to each power of two: as little as a bare loop can do and still know its
// median within some percent. It belongs to one goroutine.
type latencies struct{ counts [64 * 16]int64 }

func (l *latencies) add(ns int64) {
	v := uint64(max(ns, 16))
	shift := bits.Len64(v) - 5
	l.counts[shift*16+int(v>>shift)-16]++
}

// quantile is the lower edge of the step that holds it; 0 where nothing was added.
func (l *latencies) quantile(q float64) int64 {
	var total, below int64
	for _, n := range l.counts {
		total += n
	}
	for i, n := range l.counts {
		if below += n; n > 0 && float64(below) >= q*float64(total) {
			return int64(i%16+16) << (i / 16)
		}
	}
	return 0
}
