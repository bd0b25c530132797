// When many differences are tested at once, some look clear by chance. The p values of tests that are made together, called
// a family, are therefore corrected together. Example: broker a has 4 repetitions, b has 4 and c has 2. Of the comparisons
// a–b, a–c and b–c only a–b has enough repetitions to show a difference (see smallestP). So the family is one test, and a–c
// and b–c say how many repetitions they need.

package results

import (
	"cmp"
	"slices"
)

// Correct corrects the p values of differences that are tested together: it sets their Adjusted, Family and Needed anew. Of
// three tests with p = 0.01, 0.03 and 0.04 only the first still shows a difference, because the corrected values are 0.03,
// 0.06 and 0.06 (see holm). Two samples whose values are all equal are not counted: they need no test.
func Correct(differences []*Difference) {
	var f family
	for _, d := range differences {
		if !d.empty() && !d.same {
			f.add(d.A.N, d.B.N)
		}
	}
	f.correct(differences)
}

// family counts what is compared together. The brokers above have 3 comparisons, and 1 that is testable.
type family struct {
	comparisons int // pairs of samples
	testable    int // those with enough repetitions for a test that is made alone to show a difference
}

// add counts the comparison of samples of n1 and n2 values.
func (f *family) add(n1, n2 int) {
	f.comparisons++
	if canShow(n1, n2) {
		f.testable++
	}
}

// correct corrects differences of the family. These may be fewer than it counts: a ranking counts all pairs of contenders,
// and corrects those with the best.
func (f family) correct(differences []*Difference) {
	var testable, tooFew []*Difference
	for _, d := range differences {
		switch {
		case d.empty(): // there is nothing to compare
		case !canShow(d.A.N, d.B.N): // also if all values are equal: so few say nothing
			tooFew = append(tooFew, d)
		case !d.same: // if all are equal no test is needed
			testable = append(testable, d)
		}
	}
	tested, tooFewTogether := f.tarone(testable)
	tests := f.testable - len(tooFewTogether)
	for _, d := range differences {
		d.Adjusted, d.Family, d.Needed = 1, tests, 0
	}
	adjust(tested, tests)
	for _, d := range slices.Concat(tooFew, tooFewTogether) {
		d.Family = max(1, f.comparisons) // as many tests as there are once all have the repetitions that are needed
		d.Needed = needed(d.Family)
	}
}

// adjust sets the corrected p values of differences that are tested in a family of so many tests.
func adjust(tested []*Difference, tests int) {
	var ps []float64
	for _, d := range tested {
		ps = append(ps, d.P)
	}
	for i, adjusted := range holm(ps, tests) {
		tested[i].Adjusted = adjusted
	}
}

// tarone splits differences into those that are tested in this family, and those that are left out because they have too few
// repetitions for any outcome to show something in it (Tarone, Biometrics 46, 1990). The more tests a family has, the more
// repetitions each needs, and a test that is left out makes the family smaller. With 4 repetitions of each sample the
// smallest p is 2.9 %: one such test can show a difference, two together cannot.
//
// That favours no outcome, because it follows from the numbers of repetitions alone.
func (f family) tarone(differences []*Difference) (tested, tooFewTogether []*Difference) {
	clearest := func(d *Difference) float64 { return smallestP(d.A.N, d.B.N) }
	byClearest := slices.SortedStableFunc(slices.Values(differences), func(a, b *Difference) int {
		return cmp.Compare(clearest(a), clearest(b))
	})
	n := 0
	for n < len(byClearest) && clearest(byClearest[n])*float64(f.testable-n) < alpha { // as holm corrects the clearest outcome
		n++
	}
	return byClearest[:n], byClearest[n:]
}

// holm corrects the p values of tests that are made together (Holm, Scandinavian Journal of Statistics 6, 1979), and returns
// them in the same order. The smallest p is multiplied by the number of tests, the second by one less, and so on, and none
// gets smaller than the one before. If every test with a corrected p below 5 % is believed, the chance that any of them
// shows a difference where there is none is below 5 %, however the tests depend on each other.
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

// Needed is how many repetitions each of several contenders needs at least for a test to show a difference between any two
// of them: all pairs are tested as one family. It is 1 if there is no pair.
func Needed(contenders int) int {
	pairs := contenders * (contenders - 1) / 2
	if pairs < 1 {
		return 1
	}
	return needed(pairs)
}

// needed is how many repetitions each sample needs at least for one of so many tests to show a difference.
func needed(tests int) int {
	n := 2
	for smallestP(n, n)*float64(tests) >= alpha {
		n++
	}
	return n
}
