package results

import (
	"cmp"
	"slices"
)

// Correct judges differences as one family of tests: it sets their Adjusted, Family and Needed anew.
func Correct(all []*Difference) {
	var f family
	for _, d := range all {
		if d.A.N == 0 || d.B.N == 0 || d.same {
			continue
		}
		f.intended++
		if d.smallestP() < alpha {
			f.testable++
		}
	}
	f.correct(all)
}

// family counts tests that are made together.
type family struct {
	testable int // those with enough repetitions for some outcome to show a difference, if each was the only test
	intended int // those there would be if every sample had enough repetitions
}

// correct judges differences that belong to the family, which may have further members.
//
// A test that could show nothing in such a family, whatever its outcome, is left out of it, and Needed says how many repetitions it needs
// (Tarone, Biometrics 46, 1990). Which tests these are follows from the numbers of repetitions alone, never from what was measured, so
// leaving them out favours no outcome.
func (f family) correct(all []*Difference) {
	var candidates []*Difference
	var smallest []float64 // p values that the candidates could have
	for _, d := range all {
		d.Adjusted, d.Needed = 1, 0
		if d.A.N > 0 && d.B.N > 0 && !d.same && d.smallestP() < alpha {
			candidates, smallest = append(candidates, d), append(smallest, d.smallestP())
		}
	}
	size := f.testable
	var tested []*Difference
	var ps []float64
	for i, p := range holm(smallest, f.testable) {
		if p < alpha {
			tested, ps = append(tested, candidates[i]), append(ps, candidates[i].P)
		} else {
			size--
		}
	}
	for i, p := range holm(ps, size) {
		tested[i].Adjusted = p
	}
	for _, d := range all {
		d.Family = size
		tooFew := d.smallestP() >= alpha || slices.Contains(candidates, d) && !slices.Contains(tested, d)
		if d.A.N > 0 && d.B.N > 0 && tooFew {
			d.Family = max(1, f.intended)
			d.Needed = needed(d.Family)
		}
	}
}

// holm corrects the p values of tests that are made together (Holm, Scandinavian Journal of Statistics 6, 1979). The smallest is
// multiplied by the number of tests, the second by one less, and so on, and none gets smaller than the one before. If every test with a
// corrected p below 5 % is believed, the chance that any of them shows a difference where there is none is below 5 %, however the tests
// depend on each other.
//
// ps may be some tests of a family of that size: the others could only push these further down the order, so no result gets too small.
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

// smallestP is the p value of the clearest outcome that the test could have had.
func (d Difference) smallestP() float64 { return smallestP(d.A.N, d.B.N) }

// Needed is how many repetitions each of several contenders needs at least for a test to show a difference between any two of
// them: all pairs are tested as one family. It is 1 if there is no pair.
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
