package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
)

// Answer is the conclusion of a comparison of two samples.
type Answer string

// The three answers.
const (
	Undecided     Answer = "undecided"
	Differs       Answer = "differs"
	DoesNotDiffer Answer = "does not differ" // by more than Small
)

// Ratio is how a sample b compares with a sample a.
type Ratio struct {
	Estimate  float64 // the median of b divided by that of a; NaN unless both are positive
	Low, High float64 // its 95 % confidence interval, by itself; 0 and +Inf without an estimate of the spread

	Answer   Answer
	Alone    float64 // p value of Student's test of whether both are equal; 1 without an estimate of the spread
	P        float64 // corrected for the comparisons that are made together
	Family   int     // how many these are, without those that have no estimate of the spread
	unlikely float64 // p value of the test of whether they differ by more than Small
	tested   bool    // there is an estimate of the spread
	bounded  bool    // the bounds of the values alone allow for both orders
}

// Tested reports whether there was an estimate of the spread, so that the answer could have been another one than Undecided.
func (r Ratio) Tested() bool { return r.tested }

// Bounded reports whether the bounds of the values leave open which figure is the larger one, however many repetitions there are.
func (r Ratio) Bounded() bool { return r.bounded }

// Compare compares b with a by itself; Judge corrects what is compared together. pooled is the spread of both from all repetitions that
// scatter like theirs; where it is unknown each sample has to have a spread of its own. Repetitions that were measured together are compared
// in pairs, if there are enough, and no other samples have a part in the pooled spread.
func Compare(a, b Sample, pooled Spread) Ratio {
	if len(a) == 0 || len(b) == 0 {
		return ratioOf(math.Inf(-1), math.Inf(1), math.NaN(), Spread{}, 0)
	}
	if ratios := pairedRatios(a, b); len(ratios) >= enoughPairs && pooled.DF <= float64(2*(len(ratios)-1)) {
		return paired(ratios, b.Median()/a.Median())
	}
	lowA, highA := a.ends()
	lowB, highB := b.ends()
	spread, standardError := errorOf(a, b, pooled)
	return ratioOf(lowB-highA, highB-lowA, b.Median()/a.Median(), spread, standardError)
}

// Paired compares by ratios of b to a that were measured in pairs, each under conditions of its own.
func Paired(ratios Sample) Ratio { return paired(ratios, ratios.Median()) }

func paired(ratios Sample, estimate float64) Ratio {
	lower, upper := ratios.ends()
	spread := ratios.spread()
	return ratioOf(lower, upper, estimate, spread, spread.sd()/math.Sqrt(float64(len(ratios))))
}

// pairedRatios returns the ratio of b to a of each repetition if all of both samples were measured together: with the same draw, before the
// next repetition of either began. Otherwise it returns none: runs of different days share their seeds as well, but no disturbance.
func pairedRatios(a, b Sample) (ratios Sample) {
	byBegin := func(v, w Value) int { return v.Began.Compare(w.Began) }
	a, b = slices.SortedFunc(slices.Values(a), byBegin), slices.SortedFunc(slices.Values(b), byBegin)
	for i := range min(len(a), len(b)) {
		before := i == 0 || a[i-1].Began.Before(b[i].Began) && b[i-1].Began.Before(a[i].Began)
		if len(a) != len(b) || a[i].Draw == 0 || a[i].Draw != b[i].Draw || !before {
			return nil
		}
		ratios = append(ratios, RatioOf(a[i:i+1], b[i:i+1]))
	}
	return ratios
}

// RatioOf is the ratio of the medians of b and a with the bounds that those of their values leave, for Paired.
func RatioOf(a, b Sample) Value {
	return Value{At: b.Median() / a.Median(), Low: b.median(low) / a.median(high), High: b.median(high) / a.median(low)}
}

// ratioOf makes a ratio of the ends of its logarithm, an estimate, and the standard error of the logarithm.
func ratioOf(lower, upper, estimate float64, spread Spread, standardError float64) Ratio {
	r := Ratio{Estimate: math.NaN(), Low: 0, High: math.Inf(1), Alone: 1, P: 1, unlikely: 1, tested: spread.Known(), Answer: Undecided}
	r.bounded = lower < upper && lower <= 0 && upper >= 0
	if estimate > 0 && !math.IsInf(estimate, 1) {
		r.Estimate = estimate
		lower, upper = min(lower, math.Log(estimate)), max(upper, math.Log(estimate)) // a mean that contradicts the medians shows nothing
	}
	if r.tested {
		margin := spread.quantile(Alpha) * standardError
		r.Low, r.High = math.Exp(lower-margin), math.Exp(upper+margin)
		beyond := func(distance float64) float64 { return spread.t().Survival(distance / standardError) }
		r.Alone = min(1, 2*beyond(max(lower, -upper, 0)))
		small := math.Log1p(Small)
		r.unlikely = beyond(min(small-upper, small+lower))
	}
	Judge([]*Ratio{&r}, 0)
	return r
}

// errorOf is the standard error of the difference of the means of logarithms, and the spread whose degrees of freedom it has. With a pooled
// spread a sample that scatters more than that keeps its own. If the samples don't scatter alike each has its own, and the degrees of
// freedom are those of the smaller one (Hsu, Statistical Research Memoirs 2, 1938), which never makes an interval too narrow.
func errorOf(a, b Sample, pooled Spread) (Spread, float64) {
	ofA, ofB := a.spread(), b.spread()
	spread := pooled
	if pooled.Known() {
		ofA.SD, ofB.SD = max(ofA.SD, pooled.SD), max(ofB.SD, pooled.SD)
	} else {
		spread.DF = min(ofA.DF, ofB.DF)
	}
	return spread, math.Sqrt(ofA.sd()*ofA.sd()/float64(len(a)) + ofB.sd()*ofB.sd()/float64(len(b)))
}

// Against compares each sample with the best of them, which was chosen by these values. So the family is all pairs of the best and the others.
func Against(best Sample, others []Sample) []Ratio {
	pooled := Pool(append([]Sample{best}, others...)...)
	ratios := make([]Ratio, len(others))
	family := make([]*Ratio, len(others))
	for i, s := range others {
		ratios[i] = Compare(best, s, pooled)
		family[i] = &ratios[i]
	}
	further := 0 // pairs of others
	for i, a := range others {
		for _, b := range others[i+1:] {
			if pooled.Known() && len(a) > 0 && len(b) > 0 || a.spread().Known() && b.spread().Known() {
				further++
			}
		}
	}
	Judge(family, further)
	return ratios
}

// Judge corrects comparisons that are made together for their number, and answers them. further is how many others belong to them.
func Judge(ratios []*Ratio, further int) {
	tested := lists.Filter(ratios, func(r *Ratio) bool { return r.tested })
	family := len(tested) + further
	equal := holm(lists.Map(tested, func(r *Ratio) float64 { return r.Alone }), family)
	different := holm(lists.Map(tested, func(r *Ratio) float64 { return r.unlikely }), family)
	for _, r := range ratios {
		r.Answer, r.P, r.Family = Undecided, 1, family
	}
	for i, r := range tested {
		r.P = equal[i]
		switch {
		case r.P < Alpha:
			r.Answer = Differs
		case different[i] < Alpha:
			r.Answer = DoesNotDiffer
		}
	}
}

// StepDown corrects n answers that are given together for their number, as holm does, where intervals decide and there are no p values.
// decided reports whether intervals that err with the probability alpha decide the i-th; smaller ones decide no more. It returns which
// are decided, and the last alpha that was asked for.
func StepDown(n int, decided func(i int, alpha float64) bool) (which []bool, alpha float64) {
	which = make([]bool, n)
	for before, count := -1, 0; count > before && count < n; {
		before, alpha = count, Alpha/float64(n-count)
		for i := range which {
			if !which[i] && decided(i, alpha) {
				which[i] = true
				count++
			}
		}
	}
	return which, alpha
}

// holm corrects the p values of tests that are made together (Holm, Scandinavian Journal of Statistics 6, 1979), and returns
// them in the same order. The smallest p is multiplied by the number of tests, the second by one less, and so on, and none
// gets smaller than the one before. If every test with a corrected p below 5 % is believed, the chance that any of them
// is wrong is below 5 %, however the tests depend on each other.
//
// tests is the size of the family. It may have other p values besides ps: those could only push these further down the
// order, so no result gets too small.
func holm(ps []float64, tests int) []float64 {
	byP := make([]int, len(ps)) // indexes of ps, the one of the smallest p first
	for i := range byP {
		byP[i] = i
	}
	slices.SortFunc(byP, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	adjusted, previous := make([]float64, len(ps)), 0.0
	for rank, i := range byP {
		previous = min(1, max(previous, ps[i]*float64(tests-rank)))
		adjusted[i] = previous
	}
	return adjusted
}
