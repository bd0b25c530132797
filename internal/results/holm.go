package results

import (
	"cmp"
	"slices"
)

// Correct corrects the p values of differences that are tested together: it sets their Adjusted,
// Family and Needed anew.
func Correct(all []*Difference) {
	var f family
	for _, d := range all {
		if d.A.N == 0 || d.B.N == 0 || d.same {
			continue
		}
		f.comparisons++
		if smallestP(d.A.N, d.B.N) < alpha {
			f.testable++
		}
	}
	f.correct(all)
}

// family counts tests that are made together.
type family struct {
	comparisons int // pairs of samples that are to be compared
	testable    int // those with enough repetitions to show a difference in a test of their own
}

// correct corrects differences that belong to the family. Others may belong to it too.
//
// The more tests a family has, the more repetitions each needs. A test that could not show a
// difference in this family, whatever its outcome, is left out of it (Tarone, Biometrics 46, 1990).
// That favours no outcome: it follows from the numbers of repetitions and, as the U test itself,
// from which of the pooled values are equal, not from which side they are on.
func (f family) correct(all []*Difference) {
	var testable, tooFew []*Difference
	var leastPs []float64 // the smallest p values that the testable ones could have
	for _, d := range all {
		d.Adjusted, d.Needed = 1, 0
		if d.A.N == 0 || d.B.N == 0 {
			continue
		}
		switch p := smallestP(d.A.N, d.B.N); {
		case p >= alpha:
			tooFew = append(tooFew, d)
		case !d.same:
			testable, leastPs = append(testable, d), append(leastPs, p)
		}
	}
	var tested []*Difference
	var ps []float64
	for i, p := range holm(leastPs, f.testable) {
		if p < alpha {
			tested, ps = append(tested, testable[i]), append(ps, testable[i].P)
		} else {
			tooFew = append(tooFew, testable[i])
		}
	}
	size := f.testable - (len(testable) - len(tested))
	for i, p := range holm(ps, size) {
		tested[i].Adjusted = p
	}
	for _, d := range all {
		d.Family = size
	}
	for _, d := range tooFew {
		d.Family = max(1, f.comparisons) // as if all had enough repetitions, which is what Needed asks for
		d.Needed = needed(d.Family)
	}
}

// holm corrects the p values of tests that are made together (Holm, Scandinavian Journal of
// Statistics 6, 1979). The smallest is multiplied by the number of tests, the second by one less,
// and so on, and none gets smaller than the one before. If every test with a corrected p below 5 % is
// believed, the chance that any of them shows a difference where there is none is below 5 %, however
// the tests depend on each other.
//
// ps may be some tests of a family of that size: the others could only push these further down the
// order, so no result gets too small.
func holm(ps []float64, size int) []float64 {
	byP := make([]int, len(ps)) // indexes of ps
	for i := range byP {
		byP[i] = i
	}
	slices.SortStableFunc(byP, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	corrected := make([]float64, len(ps))
	previous := 0.0
	for rank, i := range byP {
		previous = min(1, max(previous, ps[i]*float64(size-rank)))
		corrected[i] = previous
	}
	return corrected
}

// Needed is how many repetitions each of several contenders needs at least for a test to show a
// difference between any two of them: all pairs are tested as one family. It is 1 if there is no pair.
func Needed(contenders int) int {
	pairs := contenders * (contenders - 1) / 2
	if pairs < 1 {
		return 1
	}
	return needed(pairs)
}

// needed is how many repetitions each side needs at least for one of so many tests to show a difference.
func needed(tests int) int {
	n := 2
	for smallestP(n, n)*float64(tests) >= alpha {
		n++
	}
	return n
}
