package verdict

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

// inTurns draws n repetitions of two contenders, the second of which is so many times as high. What happens in a repetition to both scatters
// by shared, and what happens to one of them by own.
func inTurns(r *rand.Rand, n int, times, shared, own float64) (a, b Sample) {
	draw := func(i, turn int, truth, both float64) Value {
		v := Exactly(truth * math.Exp(both+own*r.NormFloat64()))
		v.Draw, v.Began = int64(i+1), time.Unix(int64(100*i+turn), 0)
		return v
	}
	for i := range n {
		both := shared * r.NormFloat64()
		a, b = append(a, draw(i, 0, 10, both)), append(b, draw(i, 50, 10*times, both))
	}
	return a, b
}

// apart is a sample of which nothing is known to have been measured together with another.
func apart(s Sample) (out Sample) {
	for _, v := range s {
		v.Draw = 0
		out = append(out, v)
	}
	return out
}

// The shares are of comparisons of two contenders that are told apart, by themselves and among ten comparisons.
func TestPairsOfRepetitionsLeaveOutWhatDisturbedBoth(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 43))
	rounds := 500
	if testkit.Thorough() {
		rounds = 5000
	}
	const own = 0.05
	for _, n := range []int{3, 4, 5, 6, 10} {
		for _, shared := range []float64{0, own, 3 * own} {
			differs := func(times float64) (alone, amongTen, apartAlone, apartAmongTen float64) {
				for range rounds {
					a, b := inTurns(r, n, times, shared, own)
					together, otherwise := Compare(a, b, Pool(a, b)).Alone, Compare(apart(a), apart(b), Pool(a, b)).Alone
					for share, is := range map[*float64]bool{
						&alone: together < Alpha, &amongTen: together < Alpha/10, &apartAlone: otherwise < Alpha, &apartAmongTen: otherwise < Alpha/10,
					} {
						if is {
							*share += 1 / float64(rounds)
						}
					}
				}
				return alone, amongTen, apartAlone, apartAmongTen
			}
			wrong, _, _, _ := differs(1)
			if limit := Alpha + 4*math.Sqrt(Alpha*(1-Alpha)/float64(rounds)); wrong > limit {
				t.Errorf("n=%d, shared %.2f: %.1f %% wrong", n, shared, 100*wrong)
			}
			alone, ten, apartAlone, apartTen := differs(1.3)
			t.Logf("n=%2d, shared %.2f: wrong %.1f %%; 1.3 times is told in %.0f %% (%.0f %% as if apart), among ten in %.0f %% (%.0f %%)",
				n, shared, 100*wrong, 100*alone, 100*apartAlone, 100*ten, 100*apartTen)
			switch {
			case n < enoughPairs && (alone != apartAlone || ten != apartTen):
				t.Errorf("%d repetitions are compared in pairs", n)
			case n >= enoughPairs && (alone < apartAlone-0.05 || ten < apartTen-0.15 || shared > own && ten < apartTen+0.2):
				t.Errorf("n=%d, shared %.2f: pairs show less: %.2f and %.2f, apart %.2f and %.2f", n, shared, alone, ten, apartAlone, apartTen)
			}
		}
	}
}

func TestOnlyWhatWasMeasuredInTurnsIsPaired(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 43))
	a, b := inTurns(r, 5, 2, 1, 0.01)
	later, otherDraw, fewer := apart(b), apart(b), b[1:]
	for i := range later {
		later[i].Draw, later[i].Began = b[i].Draw, b[i].Began.Add(time.Hour) // as if the second ran on its own, afterwards
		otherDraw[i].Draw = 7
	}
	third, _ := inTurns(r, 5, 2, 1, 0.01)
	for name, c := range map[string]struct {
		b      Sample
		pooled Spread
		want   Answer
	}{
		"in turns":                         {b, Pool(a, b), Differs},
		"in another order":                 {Sample{b[3], b[0], b[4], b[2], b[1]}, Pool(a, b), Differs},
		"one after the other":              {later, Pool(a, later), Undecided},
		"other draws":                      {otherDraw, Pool(a, otherDraw), Undecided},
		"no draw is known":                 {apart(b), Pool(a, b), Undecided},
		"one repetition less":              {fewer, Pool(a, fewer), Undecided},
		"a third has a part in the spread": {b, Pool(a, b, third), Undecided},
	} {
		if got := Compare(a, c.b, c.pooled); got.Answer != c.want {
			t.Errorf("%s: %s, %g [%g–%g]", name, got.Answer, got.Estimate, got.Low, got.High)
		}
	}
}
