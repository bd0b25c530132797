package worker

import (
	"math"
	"time"
)

// Settling decides when an automatic warm-up may end: when neither the rate of confirmations nor the median latency has drifted over the
// last three half seconds. For example, rates of 9,800/s, 10,100/s and 10,300/s are steady, because each is within 10 % of their mean,
// and so are medians of 40 µs, 100 µs and 40 µs, because each is within 50 µs of it.
type Settling struct {
	shortest, longest time.Duration       // bounds of the warm-up
	rates             [steadySpan]float64 // messages confirmed per second, by half second; a ring
	medians           [steadySpan]float64 // latencies in ns, likewise
	n                 int                 // samples so far
	last              Sample
}

const (
	steadySpan  = 3    // half seconds
	steadyShare = 0.1  // how far a value may be off the mean, as a share of the mean
	medianSlack = 50e3 // how far a median may be off the mean in any case, ns
)

// NewSettling returns the Settling of an automatic warm-up.
func NewSettling(w Warmup) *Settling { return &Settling{shortest: w.For, longest: w.Max} }

// Settled takes the next sample, of a warm-up that has lasted for elapsed, and reports whether the warm-up may end. Call it about every
// half second.
func (w *Settling) Settled(elapsed time.Duration, s Sample) bool {
	if w.n > 0 {
		seconds := float64(s.At-w.last.At) / 1e9
		w.rates[w.n%steadySpan] = float64(s.Count.Acked-w.last.Count.Acked) / seconds
		w.medians[w.n%steadySpan] = float64(s.EndToEnd.P50)
	}
	w.n++
	w.last = s
	if elapsed >= w.longest {
		return true
	}
	return elapsed >= w.shortest && w.n > steadySpan && steady(w.rates, 0) && steady(w.medians, medianSlack)
}

// steady reports whether each value differs from the mean of all by at most steadyShare of the mean, or by at most slack. If all values
// are 0, nothing has been measured yet, and that is not steady.
func steady(values [steadySpan]float64, slack float64) bool {
	var mean float64
	for _, v := range values {
		mean += v
	}
	mean /= steadySpan
	for _, v := range values {
		if math.Abs(v-mean) > max(slack, steadyShare*mean) {
			return false
		}
	}
	return mean > 0
}
