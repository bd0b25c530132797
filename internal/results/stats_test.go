package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

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
	const experiments = 2000
	inside := 0
	for range experiments {
		values := make([]float64, 8)
		for i := range values {
			values[i] = math.Exp(random.NormFloat64()) // skewed as latencies are; median 1
		}
		if s := Summarize(values); s.Low <= 1 && 1 <= s.High {
			inside++
		}
	}
	if least := experiments * 935 / 1000; inside < least { // three standard deviations of a binomial with p = 0.95 are 1.5 %
		t.Errorf("%d of %d medians inside", inside, experiments)
	}
}
