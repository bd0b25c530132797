package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
)

// uOf counts the pairs in which b is above a; equal ones are half a pair.
func uOf(a, b []float64) float64 {
	u := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case y > x:
				u++
			case y == x:
				u += 0.5
			}
		}
	}
	return u
}

// permuted is the p value of the U test by its definition: every way to deal the pooled values to the two sides is
// equally likely; twice the share of those at least as far out on the same side.
func permuted(a, b []float64) float64 {
	pooled := slices.Concat(a, b)
	seen := uOf(a, b)
	low, high, all := 0, 0, 0
	var deal func(i int, x, y []float64)
	deal = func(i int, x, y []float64) {
		if len(x) > len(a) || len(y) > len(b) {
			return
		}
		if i == len(pooled) {
			all++
			switch u := uOf(x, y); {
			case u == seen:
				low, high = low+1, high+1
			case u < seen:
				low++
			default:
				high++
			}
			return
		}
		deal(i+1, append(slices.Clip(x), pooled[i]), y)
		deal(i+1, x, append(slices.Clip(y), pooled[i]))
	}
	deal(0, nil, nil)
	return min(1, 2*float64(min(low, high))/float64(all))
}

func TestTheTestIsThatOfAllPermutations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 150 {
		a, b := make([]float64, 3+random.IntN(4)), make([]float64, 4+random.IntN(3))
		ties := random.IntN(2) == 0
		for _, side := range [][]float64{a, b} {
			for i := range side {
				if side[i] = 1 + random.Float64(); ties {
					side[i] = float64(1 + random.IntN(6))
				}
			}
		}
		d := Contrast(a, b)
		if d.Answer() == NotTested || d.same {
			continue
		}
		if want := permuted(a, b); math.Abs(d.P-want) > 1e-9 {
			t.Fatalf("%v against %v: p = %v, by permutation %v", a, b, d.P, want)
		}
		if back := Contrast(b, a); math.Abs(back.P-d.P) > 1e-9 || back.Delta != -d.Delta {
			t.Fatalf("the other way round p = %v and delta %v, before %v and %v", back.P, back.Delta, d.P, d.Delta)
		}
		if want := 2*uOf(a, b)/float64(len(a)*len(b)) - 1; math.Abs(d.Delta-want) > 1e-9 {
			t.Fatalf("delta %v, want %v", d.Delta, want)
		}
	}
}

// The interval holds exactly the factors that the test, at 5 %, wouldn't reject.
func TestTheIntervalOfARatioIsWhatTheTestDoesNotReject(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 40 {
		a, b := make([]float64, 4+random.IntN(6)), make([]float64, 4+random.IntN(6))
		for i := range a {
			a[i] = 1 + random.Float64()
		}
		for i := range b {
			b[i] = 2 + 3*random.Float64()
		}
		d := Contrast(a, b)
		var ratios []float64
		for _, x := range a {
			for _, y := range b {
				ratios = append(ratios, y/x)
			}
		}
		slices.Sort(ratios)
		for i := range len(ratios) + 1 { // between two neighbouring ratios nothing changes
			factor := ratios[0] * 0.99
			if i == len(ratios) {
				factor = ratios[i-1] * 1.01
			} else if i > 0 {
				factor = (ratios[i-1] + ratios[i]) / 2
			}
			scaled := make([]float64, len(a))
			for k, v := range a {
				scaled[k] = v * factor
			}
			inside := d.RatioLow < factor && factor < d.RatioHigh
			if rejected := Contrast(scaled, b).P < 0.05; rejected == inside {
				// At exactly 5 % in two tails the interval keeps what the test may reject by a rounding.
				if p := Contrast(scaled, b).P; math.Abs(p-0.05) > 1e-9 {
					t.Fatalf("%v × %v: p = %v, interval %v..%v", factor, a, p, d.RatioLow, d.RatioHigh)
				}
			}
		}
		if d.Ratio < d.RatioLow || d.Ratio > d.RatioHigh || math.Abs(d.Ratio/math.Sqrt(ratios[(len(ratios)-1)/2]*ratios[len(ratios)/2])-1) > 1e-12 {
			t.Fatalf("ratio %v is no median of %v, within %v..%v", d.Ratio, ratios, d.RatioLow, d.RatioHigh)
		}
	}
}

func TestTheIntervalOfManyPairsIsCloseToTheExactOne(t *testing.T) {
	// 20 × 20 pairs are counted exactly, 20 × 21 by the normal distribution: one value more changes little.
	a, b := sides(20, 100), sides(20, 130)
	exact, approximate := Contrast(a, b), Contrast(a, append(slices.Clone(b), 139.5))
	if math.Abs(exact.RatioLow-approximate.RatioLow) > 0.01 || math.Abs(exact.RatioHigh-approximate.RatioHigh) > 0.01 {
		t.Errorf("%v..%v becomes %v..%v", exact.RatioLow, exact.RatioHigh, approximate.RatioLow, approximate.RatioHigh)
	}
	if exact.RatioLow >= exact.Ratio || exact.RatioHigh <= exact.Ratio {
		t.Errorf("%+v", exact)
	}
	random := rand.New(rand.NewPCG(4, 4))
	inside := 0
	const experiments = 120
	for range experiments {
		var sample [2][]float64
		for side := range sample {
			for range 22 {
				sample[side] = append(sample[side], math.Exp(random.NormFloat64()))
			}
		}
		if d := Contrast(sample[0], sample[1]); d.RatioLow <= 1 && 1 <= d.RatioHigh {
			inside++
		}
	}
	if inside < experiments*90/100 || inside == experiments {
		t.Errorf("%d of %d intervals hold the truth", inside, experiments)
	}
}

func TestTooFewPairsHaveNoInterval(t *testing.T) {
	d := Contrast([]float64{1, 2}, []float64{4, 6})
	if d.RatioLow != 0 || !math.IsInf(d.RatioHigh, 1) || math.Abs(d.Ratio-math.Sqrt(12)) > 1e-12 {
		t.Errorf("%+v", d)
	}
	for _, zero := range []Difference{Contrast([]float64{0, 1}, []float64{1, 2}), Contrast([]float64{1, 2}, []float64{0, 1}), Contrast([]float64{-1}, []float64{2})} {
		if !math.IsNaN(zero.Ratio) {
			t.Errorf("a ratio with a value that isn't positive: %v", zero.Ratio)
		}
	}
}

func TestTheClearestOutcomeIsOneOfTwoAmongAllDeals(t *testing.T) {
	for n1 := 1; n1 <= 8; n1++ {
		for n2 := 1; n2 <= 8; n2++ {
			if got, want := smallestP(n1, n2), min(1, 2/binomial(n1+n2, n1)); !near(got, want) {
				t.Errorf("%d and %d: %v, want %v", n1, n2, got, want)
			}
		}
	}
}

func TestABracketIsNoSpread(t *testing.T) {
	values := []float64{100, 104, 96, 98, 102, 101, 99}
	records := searches(values, 1.05)
	b := Sustained(records)
	if b.N != 7 || b.Median != 100 || b.Low != 96 || !near(b.High, 104*1.05) || b.Summary().Confident {
		t.Errorf("bracket %+v", b)
	}
	c := NewContender("a", MustMetric("sustainable_low"), records)
	if c.Bracket.Low != b.Low || c.Bracket.High != b.High || !slices.Equal(c.Values, values) {
		t.Errorf("contender %+v", c)
	}
	// Brackets that don't overlap show nothing by themselves.
	other := NewContender("b", MustMetric("sustainable_low"), searches([]float64{1000}, 1.01))
	if r := Rank(MustMetric("sustainable_low"), []Contender{NewContender("a", MustMetric("sustainable_low"), records[:1]), other}); len(r.WithAnswer(NotTested)) != 1 {
		t.Errorf("one search each: %s", r)
	}
	if open := Sustained(searches([]float64{5}, 0)); !math.IsInf(open.High, 1) || open.Low != 5 {
		t.Errorf("nothing failed: %+v", open)
	}
	if none := NewContender("a", MustMetric("sustainable_low"), nil); none.Bracket != nil || none.Values != nil {
		t.Errorf("no search: %+v", none)
	}
	if cell := Sustained(nil).Cell(); cell.Kind != document.Blank {
		t.Errorf("no search: %+v", cell)
	}
	if cell := Sustained(records[:1]).Cell(); cell.Kind != document.Interval || cell.Low != 100 || cell.High != 105 {
		t.Errorf("one search: %+v", cell)
	}
}

// Two values against 898 took 21 seconds while sums of all 900 ranks had a place.
func TestTheUTestCountsNoSumThatNoSampleCanHave(t *testing.T) {
	pooled := make([]float64, 900)
	for i := range pooled {
		pooled[i] = float64(i)
	}
	splits := splitsBySum(twiceRanks(pooled), 2)
	if want := 2*899 + 2*900; len(splits) != want+1 || splits[want] != 1 || splits[want-1] != 0 || splits[2*1+2*2] != 1 {
		t.Errorf("sums up to %d, want %d", len(splits)-1, want)
	}
}
