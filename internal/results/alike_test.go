package results

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Brokers of one repetition are offered the same random arrivals, which make the latency of both higher or lower than usual. The test takes
// its samples for independent. What they have in common cancels out in their difference, so it finds fewer differences, and never more than
// 5 % where there is none. Decisions need no pairs of repetitions, then, of which one may be missing.
func TestCommonRandomArrivalsMakeTheTestNoMoreLenient(t *testing.T) {
	const trials = 1000
	rng := rand.New(rand.NewPCG(42, 1))
	for _, n := range []int{4, 6, 10} {
		for _, common := range []float64{0, 0.5, 0.9} { // share of the variance that is due to the arrivals
			shown, outside := 0, 0
			for range trials {
				a, b := make([]float64, n), make([]float64, n)
				for i := range n {
					arrivals := rng.NormFloat64() * math.Sqrt(common)
					own := func() float64 { return rng.NormFloat64() * math.Sqrt(1-common) }
					a[i], b[i] = math.Exp(arrivals+own()), math.Exp(arrivals+own())
				}
				d := contrast(a, b)
				if d.Answer == Differs {
					shown++
				}
				if d.Low > 1 || d.High < 1 {
					outside++
				}
			}
			const most = 0.05 + 3*0.007 // and three standard errors
			for what, count := range map[string]int{"differ": shown, "have an interval that leaves out 1": outside} {
				if share := float64(count) / trials; share > most {
					t.Errorf("%d repetitions, %.0f %% in common: %.1f %% of equal brokers %s", n, 100*common, 100*share, what)
				}
			}
			if common == 0.9 && shown > trials/100 {
				t.Errorf("%d repetitions, 90 %% in common: %d of %d equal brokers differ, want fewer than of independent ones", n, shown, trials)
			}
		}
	}
}
