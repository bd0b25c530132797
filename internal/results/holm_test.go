package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

func sides(n int, from float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = from + float64(i)
	}
	return values
}

// A test is made exactly where some outcome of the family would have shown a difference: all of one side above the other.
func TestATestIsMadeWhereItCouldShowSomething(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for tests := 1; tests <= 50; tests += 1 + tests/8 {
			var apart, alike []*Difference
			for range tests {
				a, b := Contrast(sides(n, 1), sides(n, 100)), Contrast(sides(n, 1), sides(n, 1.5))
				apart, alike = append(apart, &a), append(alike, &b)
			}
			Correct(apart)
			Correct(alike)
			possible := 2/binomial(2*n, n)*float64(tests) < 0.05
			for i := range apart {
				want, wantNot := NotTested, NotTested
				if possible {
					want, wantNot = Different, NoDifferenceShown
				}
				if apart[i].Answer() != want || alike[i].Answer() != wantNot {
					t.Fatalf("%d tests of %d each: %v and %v, want %v and %v", tests, n, apart[i].Answer(), alike[i].Answer(), want, wantNot)
				}
				if apart[i].Family != tests {
					t.Fatalf("%d tests of %d each are a family of %d", tests, n, apart[i].Family)
				}
				if needed := apart[i].Needed; !possible && (needed <= n || 2/binomial(2*needed, needed)*float64(tests) >= 0.05 || 2/binomial(2*needed-2, needed-1)*float64(tests) < 0.05) {
					t.Fatalf("%d tests of %d each need %d", tests, n, needed)
				}
			}
		}
	}
}

func binomial(n, k int) float64 {
	v := 1.0
	for i := 1; i <= k; i++ {
		v = v * float64(n-k+i) / float64(i)
	}
	return v
}

func TestWhatWasRunOnceDoesNotWeakenTheOthers(t *testing.T) {
	once, often, same, none := Contrast([]float64{1}, []float64{9}), Contrast(sides(4, 1), sides(4, 5)), Contrast([]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}), Contrast(nil, []float64{1})
	Correct([]*Difference{&once, &often, &same, &none})
	if often.Answer() != Different || often.Family != 1 {
		t.Errorf("four runs each: %v in a family of %d", often.Answer(), often.Family)
	}
	if once.Answer() != NotTested || once.Family != 2 || once.Needed != 5 {
		t.Errorf("once each: %v, %d tests need %d; want 2 and 5", once.Answer(), once.Family, once.Needed)
	}
	if same.Answer() != NoDifferenceShown || same.Adjusted != 1 || same.P != 1 {
		t.Errorf("equal values: %v, p %v", same.Answer(), same.Adjusted)
	}
	if none.Answer() != NotTested || none.Needed != 0 || none.P != 1 || none.Adjusted != 1 || !math.IsNaN(none.Ratio) || none.RatioLow != 0 || !math.IsInf(none.RatioHigh, 1) {
		t.Errorf("no values: %v, %+v", none.Answer(), none)
	}
	if d := Contrast([]float64{5}, []float64{5}); d.Answer() != NotTested || d.Needed != 4 || d.Family != 1 || d.Change() != "equal" {
		t.Errorf("one equal run each: %+v", d)
	}
}

func TestDifferencesOfTheirOwnAreFamiliesOfOne(t *testing.T) {
	d := Contrast(sides(5, 1), sides(5, 3))
	if d.Family != 1 || d.Adjusted != d.P || d.P <= 0 || d.P >= 1 {
		t.Errorf("%+v", d)
	}
}

// The promise of the correction: where nothing differs, a report claims a difference in at most one of twenty cases,
// however many contenders or metrics it looks at. Without a correction it is one of three.
func TestFalseAlarmsStayBelowFivePerCentOfReports(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	draw := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Exp(random.NormFloat64())
		}
		return values
	}
	const experiments = 600
	const most = experiments * 65 / 1000 // two standard deviations above 5 %
	ranked, compared, naive := 0, 0, 0
	for range experiments {
		var contenders []Contender
		for i := range 6 {
			contenders = append(contenders, Contender{Name: fmt.Sprint(i), Values: draw(8)})
		}
		r := Rank(MustMetric("e2e_p99_ns"), contenders)
		if len(r.WithAnswer(Different)) > 0 {
			ranked++
		}
		if slices.ContainsFunc(r.Rest, func(s Standing) bool { return s.Against.P < 0.05 }) {
			naive++
		}
		var family []*Difference
		for range 10 {
			d := Contrast(draw(8), draw(7))
			family = append(family, &d)
		}
		Correct(family)
		if slices.ContainsFunc(family, func(d *Difference) bool { return d.Answer() == Different }) {
			compared++
		}
	}
	if ranked > most || compared > most {
		t.Errorf("of %d: %d rankings and %d comparisons raise a false alarm, at most %d may", experiments, ranked, compared, most)
	}
	if naive < 2*most {
		t.Errorf("picking the best and testing it uncorrected raises only %d: the experiment shows nothing", naive)
	}
}

func TestARankingCountsEveryPairThatCouldBeTested(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		var contenders []Contender
		for i := range 2 + random.IntN(6) {
			contenders = append(contenders, Contender{Name: fmt.Sprint(i), Values: sides(1+random.IntN(7), float64(i*10))})
		}
		counted := 0
		for i, a := range contenders {
			for _, b := range contenders[:i] {
				if 2/binomial(len(a.Values)+len(b.Values), len(b.Values)) < 0.05 {
					counted++
				}
			}
		}
		if got := familyOfPairs(contenders).testable; got != counted {
			t.Fatalf("%v: %d pairs, want %d", contenders, got, counted)
		}
	}
	// Ten contenders of 9 runs: 45 pairs, the nearest to the best at 2/48620 × 45.
	var contenders []Contender
	for i := range 10 {
		contenders = append(contenders, Contender{Name: fmt.Sprint(i), Values: sides(9, float64(10*i))})
	}
	for _, better := range []struct {
		key, best string
	}{{"e2e_p99_ns", "0"}, {"publish_rate", "9"}} {
		r := Rank(MustMetric(better.key), contenders)
		if r.Best.Name != better.best || len(r.WithAnswer(Different)) != 9 || r.Rest[0].Against.Family != 45 || !near(r.Rest[0].Against.Adjusted, 45*2/binomial(18, 9)) {
			t.Errorf("%s: best %s, %+v", better.key, r.Best.Name, r.Rest[0].Against)
		}
	}
}

// A reader must never take one answer for another, so each sentence has the words of its own answers and no others.
func TestASentenceHasTheWordsOfItsAnswersAndNoOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 400 {
		var contenders []Contender
		n := 1 + random.IntN(9)
		for i := range 2 + random.IntN(4) {
			c := Contender{Name: fmt.Sprint("c", i)}
			for range max(1, n-random.IntN(2)*random.IntN(n)) {
				c.Values = append(c.Values, float64(1+random.IntN(3)*100)+random.Float64())
			}
			contenders = append(contenders, c)
		}
		r := Rank(MustMetric("publish_rate"), contenders)
		text := r.String()
		for words, answer := range map[string]Answer{"no difference shown": NoDifferenceShown, "ot tested": NotTested} {
			if got, want := strings.Contains(strings.ToLower(text), words), len(r.WithAnswer(answer)) > 0; got != want {
				t.Fatalf("%q says %q: %v, want %v", text, words, got, want)
			}
		}
		if got, want := strings.Contains(text, "Highest ") || strings.Contains(text, "behind them"), len(r.WithAnswer(Different)) > 0; got != want {
			t.Fatalf("%q ranks: %v, want %v", text, got, want)
		}
		if got, want := strings.Contains(text, "p "), len(r.WithAnswer(Different))+len(r.WithAnswer(NoDifferenceShown)) > 0; got != want {
			t.Fatalf("%q has a p value: %v, want %v", text, got, want)
		}
		for _, c := range contenders {
			if strings.Count(text, c.Name+" ") != 1 {
				t.Fatalf("%q doesn't name %s once", text, c.Name)
			}
		}
	}
}

func TestAChangeIsToldInTheWordsThatFitIt(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want string
	}{
		{[]float64{1_190_000}, []float64{25_600}, "46 times lower"},
		{[]float64{25_600}, []float64{1_190_000}, "46 times higher"},
		{[]float64{100}, []float64{1000}, "10 times higher"},
		{[]float64{100}, []float64{990}, "9.9 times higher"},
		{[]float64{100}, []float64{996}, "10 times higher"},
		{[]float64{100}, []float64{150}, "1.5 times higher"},
		{[]float64{100}, []float64{149}, "49.0 % higher"},
		{[]float64{100}, []float64{70}, "30.0 % lower"},
		{[]float64{150}, []float64{100}, "1.5 times lower"},
		{[]float64{100}, []float64{100}, "equal"},
		{[]float64{0}, []float64{0}, "equal"},
		{[]float64{0}, []float64{5}, "higher"},
		{[]float64{5}, []float64{0}, "lower"},
		{[]float64{0, 5}, []float64{2, 3}, "neither higher nor lower"},
		{[]float64{1, 1, 1}, []float64{1, 1, 9}, "mostly equal, else higher"},
		{[]float64{1, 1, 1}, []float64{1, 1, 0.5}, "mostly equal, else lower"},
		{[]float64{1, 2, 4}, []float64{1, 2, 4}, "equal"},
	} {
		if got := Contrast(c.a, c.b).Change(); got != c.want {
			t.Errorf("%v to %v is %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestWhyNamesRunsTestAndFamily(t *testing.T) {
	family := func(tests, n int, b float64) Difference {
		var all []*Difference
		for range tests {
			d := Contrast(sides(n, 1), sides(n, b))
			all = append(all, &d)
		}
		Correct(all)
		return *all[0]
	}
	uneven := Contrast(sides(2, 1), sides(3, 1))
	for want, d := range map[string]Difference{
		"no test possible with n=0 and n=2":                                                Contrast(nil, sides(2, 1)),
		"no test possible with n=3 and n=0":                                                Contrast(sides(3, 1), nil),
		"one run each, so not tested: a test needs at least 4 each":                        family(1, 1, 9),
		"3 runs each, so not tested: a test needs at least 4 each":                         family(1, 3, 9),
		"2 and 3 runs, so not tested: a test needs at least 4 each":                        uneven,
		"5 runs each, so not tested: testing 40 differences at once needs at least 7 each": family(40, 5, 9),
		"p = 0.008, Mann–Whitney U, n=5 and n=5":                                           family(1, 5, 9),
		"p = 0.024, Mann–Whitney U, Holm over 3 tests, n=5 and n=5":                        family(3, 5, 9),
		"p < 0.001, Mann–Whitney U, n=8 and n=8":                                           family(1, 8, 99),
		"p = 1.000, Mann–Whitney U, Holm over 2 tests, n=7 and n=7":                        family(2, 7, 1.5),
		"p = 0.001, Mann–Whitney U, Holm over 8 tests, n=8 and n=8":                        family(8, 8, 99),
	} {
		if got := d.Why(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOneContenderNeedsNoTest(t *testing.T) {
	for contenders, want := range map[int]int{0: 1, 1: 1, 2: 4, 3: 5} {
		if got := Needed(contenders); got != want {
			t.Errorf("%d contenders need %d repetitions, want %d", contenders, got, want)
		}
	}
}
