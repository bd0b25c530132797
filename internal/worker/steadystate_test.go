package worker

import (
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
)

// steadyAfter returns when a warm-up is steady that has one sample each half second; rate and median are functions of its number.
func steadyAfter(w Warmup, rate func(n int) float64, median func(n int) int64) time.Duration {
	const half = 500 * time.Millisecond
	state := NewSteadyState(w)
	var s Sample
	for n := 1; ; n++ {
		s.At = int64(n) * int64(half)
		s.Count.Acked += int64(rate(n) * half.Seconds())
		s.EndToEnd.P50 = median(n)
		if since := time.Duration(n) * half; state.Reached(since, s) {
			return since
		}
	}
}

func TestAWarmUpEndsWhenRateAndMedianStopDrifting(t *testing.T) {
	steady := func(int) float64 { return 10_000 }
	level := func(int) int64 { return 2_000_000 }
	for name, c := range map[string]struct {
		rate   func(n int) float64
		median func(n int) int64
		want   time.Duration
	}{
		"nothing moves":             {func(int) float64 { return 0 }, level, 30 * time.Second},
		"nothing arrives":           {steady, func(int) int64 { return 0 }, 30 * time.Second},
		"the rate keeps climbing":   {func(n int) float64 { return 1000 * math.Pow(1.25, float64(n)) }, level, 30 * time.Second},
		"the median keeps climbing": {steady, func(n int) int64 { return int64(1e6 * math.Pow(1.25, float64(n))) }, 30 * time.Second},
		"the rate goes up and down": {func(n int) float64 { return 8000 + 4000*float64(n%2) }, level, 30 * time.Second},
		"steady from the start":     {steady, level, 3 * time.Second},
		"within a tenth":            {func(n int) float64 { return 10_000 + 1000*float64(n%2) }, level, 3 * time.Second},
		"tiny medians may jump":     {steady, func(n int) int64 { return 40_000 + 60_000*int64(n%2) }, 3 * time.Second},
		"steady after five seconds": {func(n int) float64 { return min(10_000, float64(n)*1000) }, level, 5500 * time.Millisecond},
		"medians fall until eight":  {steady, func(n int) int64 { return 2_000_000 << max(0, 16-n) }, 9 * time.Second},
	} {
		got := steadyAfter(Warmup{For: 3 * time.Second, Max: 30 * time.Second}, c.rate, c.median)
		if got != c.want {
			t.Errorf("%s: after %v, want %v", name, got, c.want)
		}
	}
}

// The late samples of an agent that was silent for a while have the time of the newest sample.
func TestSamplesOfOneMomentEndNoWarmUp(t *testing.T) {
	state := NewSteadyState(Warmup{For: time.Second, Max: 30 * time.Second})
	for n := 1; n <= 6; n++ {
		s := Sample{At: 5e9, Count: measure.Count{Acked: int64(1000 * n)}, EndToEnd: Quantiles{Count: 1000, P50: 1e6}}
		if state.Reached(5*time.Second, s) {
			t.Fatalf("sample %d of the same moment ended the warm-up", n)
		}
	}
}
