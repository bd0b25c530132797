package results

import (
	"cmp"
	"slices"
)

// Correct corrects the p values of differences that are tested together: it sets their Adjusted, Family and Needed anew. The more tests
// are made, the likelier one of them has a small p by chance: of three tests with p = 0.01, 0.03 and 0.04 only the first still shows a
// difference, because their corrected values are 0.03, 0.06 and 0.06 (see holm). Samples of which all values are equal need no test.
func Correct(all []*Difference) {
	var f family
	for _, d := range all {
		if d.empty() || d.same {
			continue
		}
		f.comparisons++
		if canShow(d.A.N, d.B.N) {
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
func (f family) correct(all []*Difference) {
	var candidates, tooFew []*Difference
	for _, d := range all {
		d.Adjusted, d.Needed = 1, 0
		switch {
		case d.empty(): // there is nothing to compare
		case !canShow(d.A.N, d.B.N):
			tooFew = append(tooFew, d)
		case d.same: // equal values need no test
		default:
			candidates = append(candidates, d)
		}
	}
	tested, impossible := f.tarone(candidates)
	size := f.testable - len(impossible)
	holm(tested, size)
	for _, d := range all {
		d.Family = size
	}
	for _, d := range append(tooFew, impossible...) {
		d.Family = max(1, f.comparisons) // as if all had enough repetitions, which is what Needed asks for
		d.Needed = needed(d.Family)
	}
}

// tarone splits tests into those that can show a difference in the family and those that cannot, whatever their outcome (Tarone,
// Biometrics 46, 1990). The more tests a family has, the more repetitions each needs. A test that is left out makes the family smaller.
//
// That favours no outcome: it follows from the numbers of repetitions and, as the U test itself, from which of the pooled values are
// equal, not from which side they are on.
func (f family) tarone(tests []*Difference) (possible, impossible []*Difference) {
	slices.SortStableFunc(tests, func(a, b *Difference) int { return cmp.Compare(a.smallestP(), b.smallestP()) })
	n := 0
	for n < len(tests) && tests[n].smallestP()*float64(f.testable-n) < alpha { // holm's correction of the clearest outcome
		n++
	}
	return tests[:n], tests[n:]
}

// holm sets the Adjusted of tests that are made together (Holm, Scandinavian Journal of Statistics 6, 1979), and sorts them by P. The
// smallest p is multiplied by the number of tests, the second by one less, and so on, and none gets smaller than the one before. If every
// test with a corrected p below 5 % is believed, the chance that any of them shows a difference where there is none is below 5 %, however
// the tests depend on each other.
//
// The tests may be some of a family of that size: the others could only push these further down the order, so no result gets too small.
func holm(tests []*Difference, size int) {
	slices.SortStableFunc(tests, func(a, b *Difference) int { return cmp.Compare(a.P, b.P) })
	previous := 0.0
	for rank, d := range tests {
		d.Adjusted = min(1, max(previous, d.P*float64(size-rank)))
		previous = d.Adjusted
	}
}

// Needed is how many repetitions each of several contenders needs at least for a test to show a difference between any two of them: all
// pairs are tested as one family. It is 1 if there is no pair.
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
