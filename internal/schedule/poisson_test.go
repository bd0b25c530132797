package schedule

import (
	"math"
	"slices"
	"testing"
	"time"
)

// The bounds below are five standard errors or more: with fixed seeds the test is deterministic, and a generator
// that is off by a per cent fails it.

func distances(rate float64, seed uint64, n int) []float64 {
	s := Sequential(must(Poisson(rate, seed)))
	out, last := make([]float64, n), int64(0)
	for i := range out {
		at := s.At(int64(i))
		out[i], last = float64(at-last)/1e9*rate, at
	}
	return out
}

func TestPoissonDistancesAreExponential(t *testing.T) {
	const n = 200_000
	for seed := range uint64(5) {
		d := distances(1000, seed, n)
		var sum, squares, neighbours float64
		for i, x := range d {
			sum += x
			squares += (x - 1) * (x - 1)
			neighbours += (x - 1) * (d[(i+1)%n] - 1)
		}
		root := math.Sqrt(n)
		if mean := sum / n; math.Abs(mean-1) > 5/root {
			t.Errorf("seed %d: mean distance %v, want 1", seed, mean)
		}
		if variance := squares / n; math.Abs(variance-1) > 5*math.Sqrt(8)/root {
			t.Errorf("seed %d: variance %v, want 1", seed, variance)
		}
		if r := neighbours / squares; math.Abs(r) > 5/root {
			t.Errorf("seed %d: neighbours correlate, r = %v", seed, r)
		}
		slices.Sort(d)
		ks := 0.0
		for i, x := range d {
			f := 1 - math.Exp(-x)
			ks = max(ks, f-float64(i)/n, float64(i+1)/n-f)
		}
		if ks > 2.2/root { // 1.63/√n is the 1 % bound; 2.2 that of 1 in 10,000
			t.Errorf("seed %d: Kolmogorov-Smirnov distance %v, allowed %v", seed, ks, 2.2/root)
		}
	}
}

// Counts in windows longer and shorter than a block must have the variance of their mean, or blocks would show.
func TestPoissonCountsHaveTheVarianceOfTheirMean(t *testing.T) {
	for _, window := range []int64{10e6, 1e9, 5e9} { // of 10, 1000 and 5000 arrivals
		const rate, n = 1000, 4000
		s := Sequential(must(Poisson(rate, 42)))
		mean := rate * float64(window) / 1e9
		var sum, squares float64
		for i, last := int64(1), int64(0); i <= n; i++ {
			c := s.Count(i * window)
			x := float64(c - last)
			sum, squares, last = sum+x, squares+(x-mean)*(x-mean), c
		}
		if got := sum / n; math.Abs(got-mean) > 5*math.Sqrt(mean/n) {
			t.Errorf("windows of %v: mean count %v", mean, got)
		}
		if got := squares / n / mean; math.Abs(got-1) > 5*math.Sqrt(2.2/n) {
			t.Errorf("windows of %v: variance is %v of the mean, want 1", mean, got)
		}
	}
}

func TestPoissonFollowsItsSeed(t *testing.T) {
	a, b, c := distances(50, 1, 5000), distances(50, 1, 5000), distances(50, 2, 5000)
	if !slices.Equal(a, b) {
		t.Error("one seed, two sequences")
	}
	r := 0.0
	for i := range a {
		r += (a[i] - 1) * (c[i] - 1)
	}
	if r /= float64(len(a)); math.Abs(r) > 5/math.Sqrt(float64(len(a))) {
		t.Errorf("neighbouring seeds correlate, r = %v", r)
	}
}

func TestPoissonIsTheSameBackAndForth(t *testing.T) {
	s := must(Poisson(1e5, 3))
	w := Sequential(s)
	var want []int64
	for i := range int64(5000) {
		want = append(want, w.At(i))
	}
	for _, i := range []int64{4999, 0, 1023, 1024, 1023, 3000, 1025, 2047, 2048, 2047, 10} {
		if got := w.At(i); got != want[i] {
			t.Errorf("arrival %d is at %d, was at %d", i, got, want[i])
		}
		if got := w.Count(want[i]); got > i {
			t.Errorf("%d before arrival %d", got, i)
		}
		if got := w.At(i); got != want[i] {
			t.Errorf("after counting: arrival %d is at %d, was at %d", i, got, want[i])
		}
	}
	if got := must(Poisson(1e-6, 1)).At(1 << 40); got != Never {
		t.Errorf("an arrival beyond all time is at %d", got)
	}
}

// A sender that is behind asks for arrivals over several blocks, and goes back to the first of them. That may not cost a walk from the
// beginning, which is the longer the later it is.
func TestASenderThatIsBehindDoesNotWalkFromTheBeginning(t *testing.T) {
	const backlog, limit = 3000, 10_000
	at := func(from int64) (cost time.Duration) {
		whole, err := Poisson(1e6, 7)
		if err != nil {
			t.Fatal(err)
		}
		s := Sequential(whole)
		now := s.At(from + backlog)
		cost = time.Hour
		for range 5 {
			began := time.Now()
			due := Due(s, from, now, limit)
			first := s.At(from)
			cost = min(cost, time.Since(began))
			if due <= backlog || due > backlog+100 || first > now {
				t.Fatalf("from %d: %d are due, the first at %d", from, due, first)
			}
		}
		return cost
	}
	if early, late := at(0), at(1e8); late > 20*early {
		t.Errorf("%v at the beginning, %v after a hundred million arrivals", early, late)
	}
}
