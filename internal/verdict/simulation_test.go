package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// world draws a repetition of a contender whose true figure is given: contender 0 is the first.
type world struct {
	name string
	draw func(r *rand.Rand, contender int, truth float64) Value
}

// scattered is a figure whose logarithm scatters by a share, times what the noise draws.
func scattered(share float64, noise func(*rand.Rand) float64) func(*rand.Rand, int, float64) Value {
	return func(r *rand.Rand, _ int, truth float64) Value { return Exactly(truth * math.Exp(share*noise(r))) }
}

func student3(r *rand.Rand) float64 {
	return r.NormFloat64() / math.Sqrt((math.Pow(r.NormFloat64(), 2)+math.Pow(r.NormFloat64(), 2)+math.Pow(r.NormFloat64(), 2))/3)
}

// stalls adds to one repetition of five what a pause does to a latency.
func stalls(r *rand.Rand) float64 {
	v := r.NormFloat64()
	if r.IntN(5) == 0 {
		v += 8
	}
	return v
}

var worlds = []world{
	{"5 % normal", scattered(0.05, (*rand.Rand).NormFloat64)},
	{"30 % normal", scattered(0.30, (*rand.Rand).NormFloat64)},
	{"heavy tails", scattered(0.05, student3)},
	{"skewed", scattered(0.10, (*rand.Rand).ExpFloat64)},
	{"stalls", scattered(0.02, stalls)},
	{"as coarse as a histogram", func(r *rand.Rand, _ int, truth float64) Value {
		return Exactly(math.Exp(math.Round(math.Log(truth*math.Exp(0.001*r.NormFloat64()))/0.004) * 0.004))
	}},
	{"the first scatters four times as much", func(r *rand.Rand, contender int, truth float64) Value {
		share := 0.05
		if contender == 0 {
			share = 0.20
		}
		return Exactly(truth * math.Exp(share*r.NormFloat64()))
	}},
	{"each scatters otherwise", func(r *rand.Rand, contender int, truth float64) Value {
		return Exactly(truth * math.Exp(0.01*float64(1+contender)*r.NormFloat64()))
	}},
	{"searches", func(r *rand.Rand, _ int, truth float64) Value { // that end anywhere around the capacity that they found
		capacity := truth * math.Exp(0.02*r.NormFloat64())
		below := r.Float64()
		return Value{At: capacity * math.Exp(-0.05*below), Low: capacity * math.Exp(-0.05*below), High: capacity * math.Exp(0.05*(1-below))}
	}},
	{"limited by the generator", func(r *rand.Rand, contender int, truth float64) Value { // but for even ones
		found := truth * math.Exp(0.02*r.NormFloat64())
		if contender%2 == 0 {
			return Exactly(found)
		}
		return Value{At: found / 2, Low: found / 2, High: math.Inf(1)}
	}},
	{"two clocks", func(r *rand.Rand, contender int, truth float64) Value { // each pair of which is off by as much as it may be
		v := truth * math.Exp(0.05*r.NormFloat64())
		if contender%2 == 0 {
			v += 0.3 * truth
		} else {
			v -= 0.3 * truth
		}
		return Value{At: v, Low: v - 0.3*truth, High: v + 0.3*truth}
	}},
}

// wrongShare is the share of rankings of so many contenders with n repetitions in which any answer is wrong, if others are so many times as
// high as the first.
func (w world) wrongShare(r *rand.Rand, contenders, n int, times float64, wrong Answer, rounds int) float64 {
	count := 0
	for range rounds {
		samples := make([]Sample, contenders)
		for c := range samples {
			truth := 10.0
			if c > 0 {
				truth *= times
			}
			for range n {
				samples[c] = append(samples[c], w.draw(r, c, truth))
			}
		}
		best := 0
		for c, s := range samples {
			if s.Median() < samples[best].Median() {
				best = c
			}
		}
		if times != 1 { // only pairs with the first really differ
			best = 0
		}
		samples[0], samples[best] = samples[best], samples[0]
		for _, ratio := range Against(samples[0], samples[1:]) {
			if ratio.Answer == wrong {
				count++
				break
			}
		}
	}
	return float64(count) / float64(rounds)
}

// TestAtMostFivePercentOfRankingsHaveAWrongAnswer simulates rankings of contenders that are equal, where any "differs" is
// wrong, and of contenders that differ by just more than Small, where any "does not differ" is.
func TestAtMostFivePercentOfRankingsHaveAWrongAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 43))
	rounds := 60
	if testkit.Thorough() {
		rounds = 1000
	}
	for _, w := range worlds {
		for _, contenders := range []int{2, 12} {
			for _, c := range []struct {
				times float64
				wrong Answer
			}{{1, Differs}, {1 + Small + 1e-9, DoesNotDiffer}} {
				sum, worst := 0.0, 0.0
				for n := 1; n <= 10; n++ {
					share := w.wrongShare(r, contenders, n, c.times, c.wrong, rounds)
					sum, worst = sum+share, max(worst, share)
					if limit := 0.05 + 4*math.Sqrt(0.05*0.95/float64(rounds)); share > limit {
						t.Errorf("%s, %d contenders, n=%d: %.1f %% %q, at most %.1f %%", w.name, contenders, n, 100*share, c.wrong, 100*limit)
					}
				}
				if limit := 0.05 + 4*math.Sqrt(0.05*0.95/float64(10*rounds)); sum/10 > limit {
					t.Errorf("%s, %d contenders, n=1…10: %.2f %% %q, at most %.2f %%", w.name, contenders, 10*sum, c.wrong, 100*limit)
				}
				t.Logf("%-40s %2d contenders, %-15s mean %.2f %%, worst n %.1f %%", w.name, contenders, c.wrong, 10*sum, 100*worst)
			}
		}
	}
}

// TestAnEstimateFromOtherPointsDecidesOneRunEach simulates pairs of single runs whose spread is known from three
// repetitions of five other points.
func TestAnEstimateFromOtherPointsDecidesOneRunEach(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 43))
	const rounds = 1000
	for times, most := range map[float64]float64{1: 0.05, 2: 1} {
		differs := 0
		for range rounds {
			others := make([]Sample, 5)
			for i := range others {
				for range 3 {
					others[i] = append(others[i], worlds[0].draw(r, i, float64(1+i)))
				}
			}
			a, b := Sample{worlds[0].draw(r, 0, 10)}, Sample{worlds[0].draw(r, 1, 10*times)}
			if Compare(a, b, Pool(others...)).Answer == Differs {
				differs++
			}
			if Compare(a, b, Spread{}).Answer != Undecided {
				t.Fatal("one run each decided something without an estimate of the spread")
			}
		}
		share := float64(differs) / rounds
		if share > most+0.014 || times == 2 && share < 0.7 {
			t.Errorf("%.1f %% differ with one figure %g times the other", 100*share, times)
		}
	}
}

func TestThreeRepetitionsDecideWhatOneCannot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 43))
	w := worlds[0]
	for _, contenders := range []int{2, 12} {
		if share := w.wrongShare(r, contenders, 1, 100, Differs, 100); share > 0 {
			t.Errorf("%d contenders, one run each: %g decided", contenders, share)
		}
		if share := w.wrongShare(r, contenders, 3, 1.5, Differs, 400); share < 0.9 {
			t.Errorf("%d contenders, three runs each: 1.5 times is told in %g only", contenders, share)
		}
		exact := world{"", scattered(0.01, (*rand.Rand).NormFloat64)}
		if share := exact.wrongShare(r, contenders, 5, 1, DoesNotDiffer, 400); share < 0.9 {
			t.Errorf("%d contenders, five runs each: equal figures are told in %g only", contenders, share)
		}
	}
}
