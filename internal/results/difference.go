package results

import (
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Difference is how sample b differs from sample a, such as the latencies of two brokers, with a value for each repetition: the
// ratio of b to a, and what is concluded from it.
type Difference struct {
	A, B Summary
	verdict.Ratio
}

// empty reports whether a sample has no values, so that there is nothing to compare.
func (d Difference) empty() bool { return d.A.N == 0 || d.B.N == 0 }

// ContrastOf compares a metric of two groups of records by itself. If several comparisons are made together, Correct corrects them.
func ContrastOf(m Metric, a, b []store.Record) Difference {
	ofA, ofB := m.Sample(a), m.Sample(b)
	return Difference{A: m.Over(a), B: m.Over(b), Ratio: verdict.Compare(ofA, ofB, verdict.Pool(ofA, ofB))}
}

// Answer is what a comparison comes to.
type Answer = verdict.Answer

// The three answers.
const (
	Undecided     = verdict.Undecided
	Differs       = verdict.Differs
	DoesNotDiffer = verdict.DoesNotDiffer // by more than a tenth
)

// Correct corrects the p values of differences that are tested together, and answers them anew.
func Correct(differences []*Difference) {
	var ratios []*verdict.Ratio
	for _, d := range differences {
		ratios = append(ratios, &d.Ratio)
	}
	verdict.Judge(ratios, 0)
}
