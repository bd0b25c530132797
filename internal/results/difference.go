package results

import (
	"cmp"
	"fmt"
	"math"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Difference compares sample b with sample a, such as the latencies of two brokers, with a value for each repetition: the ratio
// of b to a, and the conclusion from it.
type Difference struct {
	A, B Summary
	verdict.Ratio
}

// empty reports whether a sample has no values, so that there is nothing to compare.
func (d Difference) empty() bool { return d.A.N == 0 || d.B.N == 0 }

// DifferenceOf compares a metric of two groups of records. If several comparisons are made together, Correct corrects them.
func DifferenceOf(m Metric, a, b []store.Record) Difference {
	ofA, ofB := m.Sample(a), m.Sample(b)
	return Difference{A: m.Over(a), B: m.Over(b), Ratio: verdict.Compare(ofA, ofB, verdict.Pool(ofA, ofB))}
}

// Answer is the conclusion of a comparison.
type Answer = verdict.Answer

// The three answers.
const (
	Undecided     = verdict.Undecided
	Differs       = verdict.Differs
	DoesNotDiffer = verdict.DoesNotDiffer // by more than a tenth
)

// Correct corrects the p values of differences that are tested together, and updates their answers.
func Correct(differences []*Difference) {
	verdict.Judge(lists.Map(differences, func(d *Difference) *verdict.Ratio { return &d.Ratio }), 0)
}

// Change describes how b compares with a: "46 times lower", "3.2 % higher", "equal".
func (d Difference) Change() string { return d.change("", "", "") }

// ChangeFrom is Change followed by the name of a: "46 times lower than kafka", "equal to kafka".
func (d Difference) ChangeFrom(a string) string { return d.change(" to "+a, " than "+a, " from "+a) }

// change is Change with the words to follow "equal", "higher" or "lower", and "different".
func (d Difference) change(to, than, from string) string {
	order := cmp.Compare(d.B.Median, d.A.Median)
	direction, higher, lower := "higher"+than, d.B, d.A
	if order < 0 {
		direction, higher, lower = "lower"+than, d.A, d.B
	}
	isOpen := d.A.AtLeast() || d.B.AtLeast()
	switch {
	case isOpen && d.Bounded():
		return "not known to be different" + from
	case order == 0:
		return "equal" + to
	case math.IsNaN(d.Estimate), lower.AtLeast():
		return direction
	case higher.AtLeast():
		return "at least " + ratioSize(d.Estimate) + " " + direction
	}
	return ratioSize(d.Estimate) + " " + direction
}

// interval describes the interval of the ratio: "0.93–1.31×". It is empty if either end is open.
func (d Difference) interval() string {
	if d.Low == 0 || math.IsInf(d.High, 1) {
		return ""
	}
	return unit.Factor.Range(d.Low, d.High)
}

// ratioSize describes how far a positive ratio is from 1, in either direction: 1.032 is "3.2 %", 2 and 0.5 are "2.0 times", 46 is
// "46 times".
func ratioSize(ratio float64) string {
	const (
		leastFactor = 1.5  // below it a percentage is easier to read
		wholeFactor = 9.95 // the least factor that rounds to 10.0
	)
	switch factor := max(ratio, 1/ratio); {
	case factor >= wholeFactor:
		return fmt.Sprintf("%.0f times", factor)
	case factor >= leastFactor:
		return fmt.Sprintf("%.1f times", factor)
	}
	return unit.Share.Format(math.Abs(ratio - 1))
}
