package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aclements/go-moremath/stats"

	"github.com/brokermark/brokermark/internal/store"
)

// At exactly 5 % nothing is shown: one value against 39 can't do better than 2 of 40 deals, so nothing is tested.
func TestFivePerCentIsNoTest(t *testing.T) {
	many := func(n int) []float64 { return sides(n, 2) }
	for n, tested := range map[int]bool{39: false, 40: true} {
		if d := Contrast([]float64{1}, many(n)); (d.Answer() != NotTested) != tested {
			t.Errorf("1 against %d: %v, p = %v", n, d.Answer(), d.P)
		}
	}
	// Two tests at once need 2 of more than 80 deals.
	for n, tested := range map[int]bool{79: false, 80: true} {
		a, b := Contrast([]float64{1}, many(n)), Contrast([]float64{1}, many(n))
		Correct([]*Difference{&a, &b})
		if (a.Answer() != NotTested) != tested || (b.Answer() != NotTested) != tested {
			t.Errorf("1 against %d, twice: %v and %v", n, a.Answer(), b.Answer())
		}
	}
	once := func(n int) []Contender {
		return []Contender{{Name: "a", Values: []float64{1}}, {Name: "b", Values: many(n)}, {Name: "c", Values: []float64{0.5}}}
	}
	// Of three contenders two pairs are tested, and only from 80 values on.
	for n, want := range map[int]int{79: 0, 80: 2} {
		r := Rank(MustMetric("publish_rate"), once(n))
		if got := 2 - len(r.WithAnswer(NotTested)); got != want {
			t.Errorf("%d values and twice one: %d tests: %s", n, got, r)
		}
	}
}

// One value below 60 others is the rarest outcome but one of 61: 2/61 = 3.3 %. For the normal distribution it would be 9 %.
func TestOneValueAgainstManyIsTestedExactly(t *testing.T) {
	many := make([]float64, 60)
	for i := range many {
		many[i] = float64(10 + i)
	}
	for name, d := range map[string]Difference{"first": Contrast([]float64{1}, many), "second": Contrast(many, []float64{1})} {
		if want := 2.0 / 61; math.Abs(d.P-want) > 1e-12 || d.Answer() != Different {
			t.Errorf("the one is %s: p = %g, want %g; %v", name, d.P, want, d.Answer())
		}
	}
}

func TestOneRunAgainstHundredsHasAnAnswer(t *testing.T) {
	for _, n := range []int{400, 401, 500, 3000} {
		for _, d := range []Difference{Contrast([]float64{1}, sides(n, 2)), Contrast(sides(n, 2), []float64{1})} {
			if d.Answer() == NotTested || !(d.RatioLow <= d.Ratio && d.Ratio <= d.RatioHigh) {
				t.Errorf("1 against %d: %v, %v within %v..%v", n, d.Answer(), d.Ratio, d.RatioLow, d.RatioHigh)
			}
		}
	}
}

func TestWhatIsCorrectedAgainForgetsItsFirstFamily(t *testing.T) {
	fresh := func() Difference { return Contrast(sides(4, 1), sides(4, 9)) }
	family := make([]*Difference, 40)
	for i := range family {
		d := fresh()
		family[i] = &d
	}
	Correct(family)
	if d := family[7]; d.Answer() != NotTested || d.Needed < 5 || d.Family != 40 {
		t.Errorf("one of forty: %+v", d)
	}
	Correct(family[7:8])
	if got := *family[7]; got != fresh() {
		t.Errorf("alone again: %+v, want %+v", got, fresh())
	}
}

// rankOf finds a ratio among all pairwise ratios, which sides like these have no two of.
func rankOf(a, b []float64, ratio float64) int {
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			ratios = append(ratios, y/x)
		}
	}
	slices.Sort(ratios)
	i, _ := slices.BinarySearch(ratios, ratio)
	return i + 1
}

// The ends of the interval are the k-th ratio from below and from above, k the largest with P(U ≤ k−1) ≤ 2.5 %.
func TestTheEndsOfAnIntervalAreThoseOfTheExactDistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for _, n := range [][2]int{{4, 4}, {1, 39}, {1, 38}, {7, 12}, {20, 20}, {16, 25}, {20, 21}, {21, 21}, {25, 30}, {30, 30}} {
		var side [2][]float64
		for i := range side {
			for range n[i] {
				side[i] = append(side[i], 1+random.Float64())
			}
		}
		dist, k := stats.UDist{N1: n[0], N2: n[1]}, 0
		for dist.CDF(float64(k)) <= 0.025 {
			k++
		}
		d := Contrast(side[0], side[1])
		if k == 0 {
			if d.RatioLow != 0 || !math.IsInf(d.RatioHigh, 1) {
				t.Errorf("%d values: %v..%v", n, d.RatioLow, d.RatioHigh)
			}
			continue
		}
		low, high := rankOf(side[0], side[1], d.RatioLow), rankOf(side[0], side[1], d.RatioHigh)
		within := 0
		if n[0]*n[1] > 400 { // from there on the normal distribution is close enough
			within = 1
		}
		if low+high != n[0]*n[1]+1 || low < k-within || low > k+within {
			t.Errorf("%d values: from the %d. to the %d. ratio, want the %d.", n, low, high, k)
		}
	}
}

func TestUpToThirtyValuesTheTestIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	for range 3 {
		a, b := make([]float64, 30), make([]float64, 3)
		for i := range a {
			a[i] = float64(random.IntN(8))
		}
		for i := range b {
			b[i] = float64(random.IntN(8))
		}
		if got, back, want := Contrast(a, b).P, Contrast(b, a).P, permuted(b, a); math.Abs(got-want) > 1e-9 || math.Abs(back-want) > 1e-9 {
			t.Errorf("%v against %v: p = %v and %v, by permutation %v", a, b, got, back, want)
		}
	}
	// Beyond that the normal distribution is close to it.
	a, b := sides(31, 0.5), sides(31, 7)
	c := slices.Clone(a[:30])
	if p, near := Contrast(a, b).P, Contrast(c, b[:30]).P; p >= 0.05 || math.Abs(math.Log(p/near)) > 0.5 {
		t.Errorf("of 31 values p = %v, of 30 %v", p, near)
	}
}

func TestWordsOfAChangeAndAPValueAtTheirBounds(t *testing.T) {
	if got := Contrast([]float64{100}, []float64{995}).Change(); got != "10 times higher" {
		t.Errorf("from 100 to 995 is %q", got)
	}
	five := Summary{N: 5}
	for p, want := range map[float64]string{0.001: "p = 0.001, ", 0.0009999: "p < 0.001, ", 0.05: "p = 0.050, ", 23 * 2 / 924.0: "p = 0.0498, ", 0.0501: "p = 0.050, ", 0.049996: "p = 0.049996, "} {
		if got := (Difference{A: five, B: five, Adjusted: p, Family: 1}).Why(); !strings.HasPrefix(got, want) {
			t.Errorf("%v is written %q", p, got)
		}
	}
	for _, bound := range []struct {
		sign string
		p    float64
		want string
	}{
		{"≤", 0.0484, "p ≤ 0.049"},
		{"≤", 0.048, "p ≤ 0.048"},
		{"≤", 0.0496, "p ≤ 0.0496"},
		{"≤", 0.0001, "p < 0.001"},
		{"≥", 0.3109, "p ≥ 0.310"},
		{"≥", 0.31, "p ≥ 0.310"},
		{"≥", 0.0506, "p ≥ 0.050"},
	} {
		if got := significance(bound.sign, bound.p); got != bound.want {
			t.Errorf("a bound of %v is written %q, want %q", bound.p, got, bound.want)
		}
	}
	if (Difference{A: five, B: five, Adjusted: 0.05}).Shown() {
		t.Error("5 % is shown")
	}
}

// The basis of a ranking quotes the least clear difference that is shown and the clearest that isn't.
func TestABasisQuotesTheWeakestEvidence(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	seen := map[string]int{}
	for range 300 {
		var contenders []Contender
		for i := range 2 + random.IntN(5) {
			contenders = append(contenders, Contender{Name: fmt.Sprint("c", i), Values: sides(7+random.IntN(2), float64(random.IntN(4))*4+random.Float64())})
		}
		r := Rank(MustMetric("e2e_p99_ns"), contenders)
		var parts []string
		largest, smallest := -1.0, 2.0
		for _, s := range r.WithAnswer(Different) {
			largest = max(largest, s.Against.Adjusted)
		}
		for _, s := range r.WithAnswer(NoDifferenceShown) {
			smallest = min(smallest, s.Against.Adjusted)
		}
		write := func(n int, several string, p float64) string {
			sign := several
			if n == 1 {
				sign = "="
			}
			if p < 0.001 {
				return "p < 0.001"
			}
			// A bound that is rounded to the nearest may not hold: the largest of several is rounded up, the smallest down.
			switch shown := math.Round(p*1000) / 1000; {
			case sign == "≤" && shown < p:
				p = shown + 0.001
			case sign == "≥" && shown > p:
				p = shown - 0.001
			}
			return fmt.Sprintf("p %s %.3f", sign, p)
		}
		behind, loadPoint := len(r.WithAnswer(Different)), len(r.WithAnswer(NoDifferenceShown))
		if behind > 0 {
			parts = append(parts, write(behind, "≤", largest))
		}
		if loadPoint > 0 {
			parts = append(parts, write(loadPoint, "≥", smallest))
		}
		want := strings.Join(parts, ", ")
		if len(parts) == 2 {
			want = parts[0] + " where shown, " + parts[1] + " where not"
		}
		want += ", Mann–Whitney U"
		if pairs := len(contenders) * (len(contenders) - 1) / 2; pairs > 1 {
			want += fmt.Sprintf(", Holm over %d pairs", pairs)
		}
		if got := r.Basis(); got != want+"." {
			t.Fatalf("%+v: basis %q, want %q", contenders, got, want+".")
		}
		seen[fmt.Sprint(min(behind, 2), min(loadPoint, 2))]++
	}
	if len(seen) != 8 {
		t.Errorf("not every case was tried: %v", seen)
	}
}

func TestTooFewRunsAreNamedWhereTheyAreEqual(t *testing.T) {
	for want, n := range map[string][]int{
		"2 runs each: testing 3 pairs at once needs at least 5 each.":    {2, 2, 2},
		"Too few runs: testing 3 pairs at once needs at least 5 each.":   {2, 2, 3},
		"Too few runs: testing 3 pairs at once needs at least 5 each. ":  {2, 3, 2},
		"Too few runs: testing 3 pairs at once needs at least 5 each.  ": {3, 2, 2},
	} {
		var contenders []Contender
		for i, runs := range n {
			contenders = append(contenders, Contender{Name: fmt.Sprint(i), Values: sides(runs, float64(10*i+1))})
		}
		if got := Rank(MustMetric("e2e_p99_ns"), contenders).Basis(); got != strings.TrimSpace(want) {
			t.Errorf("%d runs: %q, want %q", n, got, want)
		}
	}
	if got := Rank(MustMetric("e2e_p99_ns"), nil).Short("1k/s"); got != "nobody" {
		t.Errorf("the best of nobody is %q", got)
	}
	tested := Rank(MustMetric("e2e_p99_ns"), []Contender{{Name: "a", Values: sides(5, 1e6)}, {Name: "b", Values: sides(5, 9e6)}})
	if got := tested.Short("1k/s"); got != "a 1.00 ms at 1k/s" {
		t.Errorf("the best of two is %q", got)
	}
}

func TestWhatOnePointLacksIsUnset(t *testing.T) {
	with, without := measured(), measured()
	with.PointID, without.PointID = "a", "b"
	with.Axes, without.Axes = nil, nil
	with.Spec.Client, without.Spec.Client = map[string]any{"window": 5}, nil
	var names []string
	for _, p := range pointsOf([]store.Record{with, without}) {
		names = append(names, p.Name)
	}
	if want := []string{"kafka client.window=5", "kafka client.window=unset"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

// Such records can't be stored, but no report may fall over them.
func TestWhatIsNoJSONIsNamed(t *testing.T) {
	r := measured()
	r.Settings.Client = map[string]any{"f": func() {}}
	if got := new(factCache).ofRecord(r)["settings"]; !strings.Contains(got, "unsupported type") {
		t.Errorf("settings are %q", got)
	}
	r.Spec.Measure, r.Spec.Load.Rate = "rate", math.NaN()
	if got := LoadID(r.Spec); !strings.Contains(got, "unsupported value") {
		t.Errorf("the load is %q", got)
	}
}

func TestAShapeThatAllLoadsHaveIsInNoName(t *testing.T) {
	var records []store.Record
	for _, broker := range []string{"kafka", "nats"} {
		r := swept(broker, 100, 10, nil)
		r.Spec.Load.Shape = "poisson"
		records = append(records, r)
	}
	for _, p := range pointsOf(records) {
		if p.Name != p.Spec.Broker {
			t.Errorf("%s is called %q", p.Spec.Broker, p.Name)
		}
	}
}
