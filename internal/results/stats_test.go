package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTooFewRepetitionsNeverShowADifference(t *testing.T) {
	for _, c := range []struct {
		a, b   []float64
		needed int
		why    string
	}{
		{nil, []float64{1}, 0, "no test possible with n=0 and n=1"},
		{[]float64{1}, []float64{1000}, 4, "one run each, so not tested: a test needs at least 4 each"},
		{[]float64{1, 2, 3}, []float64{100, 200, 300}, 4, "3 runs each, so not tested: a test needs at least 4 each"},
		{[]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}, 0, "p = 1.000"},
		{[]float64{1, 9, 2, 8, 5}, []float64{2, 8, 1, 9, 4}, 0, "p = "},
	} {
		d := Contrast(c.a, c.b)
		if (len(c.a) == 0 || c.needed > 0) && (d.P != 1 || d.Adjusted != 1) {
			t.Errorf("%v against %v: p = %g, adjusted %g, where no test is possible", c.a, c.b, d.P, d.Adjusted)
		}
		if d.Shown() || d.Needed != c.needed || !strings.Contains(d.Why(), c.why) {
			t.Errorf("%v against %v: shown %v, needed %d, %q; want not shown, %d, %q", c.a, c.b, d.Shown(), d.Needed, d.Why(), c.needed, c.why)
		}
	}
}

func TestAClearDifferenceIsShownWithItsSize(t *testing.T) {
	d := Contrast([]float64{10, 11, 12, 13}, []float64{20, 22, 24, 26})
	if !d.Shown() || math.Abs(d.P-2.0/70) > 1e-9 {
		t.Errorf("p = %v, want 2/70", d.P)
	}
	if d.Delta != 1 || math.Abs(d.Ratio-2) > 1e-9 {
		t.Errorf("delta %v, ratio %v; want 1 and 2", d.Delta, d.Ratio)
	}
	// With four values each the interval is that of the extreme pairs.
	if math.Abs(d.RatioLow-20.0/13) > 1e-9 || math.Abs(d.RatioHigh-2.6) > 1e-9 {
		t.Errorf("ratio within %v..%v, want %v..2.6", d.RatioLow, d.RatioHigh, 20.0/13)
	}
	if back := Contrast([]float64{20, 22, 24, 26}, []float64{10, 11, 12, 13}); back.Delta != -1 || back.P != d.P {
		t.Errorf("the other way round: %+v", back)
	}
}

func TestAZeroHasNoRatio(t *testing.T) {
	if d := Contrast([]float64{0, 1, 2, 3}, []float64{5, 6, 7, 8}); !math.IsNaN(d.Ratio) || !d.Shown() {
		t.Errorf("got %+v, want a difference without a ratio", d)
	}
}

func TestAnIntervalIsConfidentOnlyFromSixValues(t *testing.T) {
	for n := 1; n <= 8; n++ {
		values := []float64{7, 3, 9, 1, 5, 8, 2, 6}[:n]
		s := Summarize(values)
		sorted := slices.Sorted(slices.Values(values))
		want := (sorted[(n-1)/2] + sorted[n/2]) / 2
		if s.N != n || s.Median != want || s.Confident != (n >= 6) {
			t.Errorf("n=%d: %+v, want median %v", n, s, want)
		}
		if !s.Confident && (s.Low != sorted[0] || s.High != sorted[n-1]) {
			t.Errorf("n=%d: %v..%v, want the extremes %v..%v", n, s.Low, s.High, sorted[0], sorted[n-1])
		}
	}
}

// The promise of an interval is that it holds the truth in 95 % of all experiments, whatever the distribution.
func TestIntervalsHoldTheTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Exp(random.NormFloat64()) // skewed as latencies are; median 1
		}
		return values
	}
	const experiments = 2000
	medians, ratios, alarms := 0, 0, 0
	for range experiments {
		a, b := draw(8), draw(9)
		if s := Summarize(a); s.Low <= 1 && 1 <= s.High {
			medians++
		}
		d := Contrast(a, b)
		if d.RatioLow <= 1 && 1 <= d.RatioHigh {
			ratios++
		}
		if d.Shown() {
			alarms++
		}
	}
	// Three standard deviations of a binomial with p = 0.95 are 1.5 %.
	const least = experiments * 935 / 1000
	if medians < least || ratios < least || alarms > experiments-least {
		t.Errorf("of %d: %d medians and %d ratios inside, %d false alarms", experiments, medians, ratios, alarms)
	}
}
