package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// holmByClosure is what Holm's method is short for: a test is believed if every set of tests that it belongs to has
// one that Bonferroni would believe.
func holmByClosure(ps []float64) []float64 {
	out := make([]float64, len(ps))
	for set := 1; set < 1<<len(ps); set++ {
		least, n := 1.0, 0
		for i, p := range ps {
			if set>>i&1 == 1 {
				least, n = min(least, p), n+1
			}
		}
		for i := range ps {
			if set>>i&1 == 1 {
				out[i] = max(out[i], min(1, least*float64(n)))
			}
		}
	}
	return out
}

// adjusted are p values as holm corrects them, in their order.
func adjusted(ps []float64, size int) []float64 {
	before := slices.Clone(ps)
	out := holm(ps, size)
	if !slices.Equal(ps, before) {
		panic("the p values were changed")
	}
	return out
}

func TestHolmIsTheClosureOfBonferroni(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		ps := make([]float64, random.IntN(8))
		for i := range ps {
			ps[i] = math.Pow(random.Float64(), 3)
			if i > 0 && random.IntN(4) == 0 {
				ps[i] = ps[i-1]
			}
		}
		got, want := adjusted(ps, len(ps)), holmByClosure(ps)
		if !slices.EqualFunc(got, want, near) {
			t.Fatalf("of %v: got %v, want %v", ps, got, want)
		}
	}
}

func TestPartOfAFamilyIsNeverJudgedMoreKindlyThanInAllOfIt(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		ps := make([]float64, 1+random.IntN(8))
		for i := range ps {
			ps[i] = math.Pow(random.Float64(), 3)
		}
		all := adjusted(ps, len(ps))
		some := 1 + random.IntN(len(ps))
		for i, p := range adjusted(ps[:some], len(ps)) {
			if p < all[i]-1e-12 {
				t.Fatalf("test %d of %v: %v alone, %v among all", i, ps, p, all[i])
			}
		}
		// One test of a family pays for all of it (Bonferroni), and no p is above 1.
		if got, want := adjusted(ps[:1], len(ps))[0], min(1, ps[0]*float64(len(ps))); got != want {
			t.Fatalf("one of %d: %v, want %v", len(ps), got, want)
		}
	}
}

// Going down by intervals decides the same as correcting p values does.
func TestStepDownDecidesWhatCorrectedPValuesDo(t *testing.T) {
	random := rand.New(rand.NewPCG(45, 1))
	for range 2000 {
		ps := make([]float64, 1+random.IntN(20))
		for i := range ps {
			ps[i] = random.Float64() * random.Float64() * random.Float64() * random.Float64()
		}
		adjusted := holm(ps, len(ps))
		which, _ := StepDown(len(ps), func(i int, alpha float64) bool { return ps[i] < alpha })
		for i, p := range adjusted {
			if which[i] != (p < Alpha) {
				t.Fatalf("of %v the %d. is decided: %v, and has %v", ps, i+1, which[i], p)
			}
		}
	}
	if which, _ := StepDown(0, nil); len(which) != 0 {
		t.Errorf("of none: %v", which)
	}
}
