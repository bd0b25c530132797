package worker

import (
	"math"
	"slices"
	"time"
)

// SteadyState decides when an automatic warm-up may end: when the rate of confirmations and the median latency have not drifted
// for three intervals between samples. For example, rates of 9,800/s, 10,100/s and 10,300/s are steady, because each is within 10
// % of their mean, and so are medians of 40 µs, 100 µs and 40 µs, because each is within 50 µs of their mean.
type SteadyState struct {
	warmup  Warmup
	last    *Sample   // nil before the first
	rates   []float64 // messages confirmed per second in each of the last steadySpan intervals, at most
	medians []float64 // of the latency at the end of each of these intervals, ns
}

const (
	steadySpan  = 3    // intervals
	steadyShare = 0.1  // how far a value may differ from the mean, as a share of the mean
	medianSlack = 50e3 // how far a median may always differ from the mean, ns
)

// NewSteadyState returns the SteadyState of an automatic warm-up, which lasts at least w.For and at most w.Max.
func NewSteadyState(w Warmup) *SteadyState { return &SteadyState{warmup: w} }

// Reached takes the next sample, of a warm-up that has lasted for elapsed, and reports whether the warm-up may end. Call it about
// every half second. A sample that is not later than the one before makes no interval and is ignored.
func (s *SteadyState) Reached(elapsed time.Duration, sample Sample) bool {
	if s.last == nil {
		s.last = &sample
	} else if sample.At > s.last.At {
		seconds := float64(sample.At-s.last.At) / 1e9
		s.rates = addRecent(s.rates, float64(sample.Count.Acked-s.last.Count.Acked)/seconds)
		s.medians = addRecent(s.medians, float64(sample.EndToEnd.P50))
		s.last = &sample
	}
	if elapsed >= s.warmup.Max {
		return true
	}
	return elapsed >= s.warmup.For && steady(s.rates, 0) && steady(s.medians, medianSlack)
}

// addRecent appends a value and drops the oldest one if that makes more than steadySpan.
func addRecent(values []float64, v float64) []float64 {
	values = append(values, v)
	return slices.Delete(values, 0, max(0, len(values)-steadySpan))
}

// steady reports whether there are steadySpan values, each of which differs from the mean of all by at most steadyShare of the
// mean, or by at most slack. If all values are 0, nothing has been measured yet, and that is not steady.
func steady(values []float64, slack float64) bool {
	if len(values) < steadySpan {
		return false
	}
	var mean float64
	for _, v := range values {
		mean += v / steadySpan
	}
	for _, v := range values {
		if math.Abs(v-mean) > max(slack, steadyShare*mean) {
			return false
		}
	}
	return mean > 0
}
