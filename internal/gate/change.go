package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Changes judges by how much the second side of each pair differs from the first, curves rate by rate.
//
// Of counts it is the change of the amount per repetition, and it counts as it is: a loss is a fact, not a sample. Of every other metric
// it is the change of the medians (decision 006). That counts if the test shows a difference. With too few repetitions for any test it
// counts as it is, and the verdict says so, because a gate that can't fail is none.
func Changes(pairs []results.Pair, conditions []Condition) []Verdict {
	var verdicts []Verdict
	for _, c := range conditions {
		judged := false
		for _, p := range pairs {
			for _, v := range c.judgePair(p) {
				judged = judged || v.Outcome != Skipped
				verdicts = append(verdicts, v)
			}
		}
		if !judged {
			verdicts = append(verdicts, Verdict{Condition: c.Text, Outcome: Failed, Point: "all points", Text: "no workload has values of both sides to judge"})
		}
	}
	return verdicts
}

// judgePair gives one verdict on a pair, or one for each rate of a curve that both sides have.
func (c Condition) judgePair(p results.Pair) []Verdict {
	about := Verdict{Condition: c.Text, Point: p.Title}
	for _, points := range [][]results.Point{p.A, p.B} {
		if outcome, text := endingOfSide(points); outcome != Passed {
			about.Outcome, about.Text = outcome, text
			return []Verdict{about}
		}
	}
	var verdicts []Verdict
	seconds := sideLoads(p.B)
	for _, first := range sideLoads(p.A) {
		i := slices.IndexFunc(seconds, func(l sideLoad) bool { return l.rate == first.rate })
		if i < 0 {
			continue
		}
		if v := c.judgeLoadOfPair(about, first, seconds[i]); v.Outcome != Skipped {
			verdicts = append(verdicts, v)
		}
	}
	if verdicts == nil {
		about.Outcome, about.Text = Skipped, c.metric.Key+" was not measured on both sides"+c.closed(p.A[0].Records)
		verdicts = append(verdicts, about)
	}
	return verdicts
}

// endingOfSide tells whether a side can be judged: not if a point of it failed, or if all were refused.
func endingOfSide(points []results.Point) (outcome Outcome, text string) {
	skipped := true
	for _, p := range points {
		o, why := ending(p)
		text = p.Name + " " + why
		if o == Failed {
			return Failed, text
		}
		skipped = skipped && o == Skipped
	}
	if skipped {
		return Skipped, text
	}
	return Passed, ""
}

// sideLoad is one load of a side, over all its points.
type sideLoad struct {
	rate    string         // name of a curve's rate; empty for the load of the points themselves, in which the sides may be meant to differ
	records []store.Record // that ended ok
	failed  string         // how a repetition ended at this load that did not end ok, in words; empty if all did
}

// sideLoads gathers the loads of a side's repetitions that ended ok as a whole.
func sideLoads(points []results.Point) []sideLoad {
	var loads []sideLoad
	for _, p := range points {
		for _, r := range p.Ok() {
			for _, l := range results.Loads(r) {
				rate := ""
				if l.Rate > 0 {
					rate = l.Name
				}
				i := slices.IndexFunc(loads, func(s sideLoad) bool { return s.rate == rate })
				if i < 0 {
					i = len(loads)
					loads = append(loads, sideLoad{rate: rate})
				}
				if l.Record.Status == store.OK {
					loads[i].records = append(loads[i].records, l.Record)
				} else {
					loads[i].failed = fmt.Sprintf("%s %s: %s", p.Name, l.Record.Status, l.Record.Reason)
				}
			}
		}
	}
	return loads
}

// judgeLoadOfPair judges one load that both sides have. about is the verdict to complete.
func (c Condition) judgeLoadOfPair(about Verdict, first, second sideLoad) Verdict {
	v := about
	if first.rate != "" {
		v.Point += ", " + first.rate
	}
	for _, l := range []sideLoad{first, second} {
		if l.failed != "" {
			v.Outcome, v.Text = Failed, l.failed
			return v
		}
	}
	a, b := c.over(first.records), c.over(second.records)
	switch {
	case a.N == 0 || b.N == 0:
		v.Outcome = Skipped
	case c.metric.Counts():
		v.Outcome, v.Text = c.judgeCounts(a, b)
	default:
		d := results.Contrast(c.values(first.records), c.values(second.records))
		d.A.Bound, d.B.Bound = a.Bound, b.Bound
		v.Outcome, v.Text = c.judgeChange(d)
	}
	return v
}

// changeOf is by how much b is more than a, as a share of a. From nothing to nothing is no change; from nothing to something has no
// percentage, and is beyond any.
func changeOf(a, b float64) float64 {
	switch {
	case a != 0:
		return b/a - 1
	case b != 0:
		return math.Inf(1)
	}
	return 0
}

// judgeCounts judges the change of sums, per repetition.
func (c Condition) judgeCounts(a, b results.Summary) (Outcome, string) {
	change := changeOf(a.Median/float64(a.N), b.Median/float64(b.N))
	text := changeText(change, fmt.Sprintf("%s (n=%d) to %s (n=%d)", c.metric.Unit.Format(a.Median), a.N, c.metric.Unit.Format(b.Median), b.N))
	if c.crossed(change) {
		return Failed, text
	}
	return Passed, text
}

// judgeChange judges the change of medians.
func (c Condition) judgeChange(d results.Difference) (Outcome, string) {
	change := changeOf(d.A.Median, d.B.Median)
	text := changeText(change, fmt.Sprintf("%s to %s", c.metric.Unit.Format(d.A.Median), c.metric.Unit.Format(d.B.Median)))
	bound := d.ClockBound()
	if c.crossed(changeOf(d.A.Median, d.B.Median-bound)) != c.crossed(changeOf(d.A.Median, d.B.Median+bound)) {
		return Undecided, fmt.Sprintf("%s: the clocks by which they were taken leave ±%s open", text, c.metric.Unit.Format(bound))
	}
	if !c.crossed(change) {
		return Passed, fmt.Sprintf("%s (n=%d and n=%d)", text, d.A.N, d.B.N)
	}
	switch d.Answer() {
	case results.NotTested:
		return Failed, fmt.Sprintf("%s; the medians alone decide: %s", text, d.Why())
	case results.NoDifferenceShown:
		return Passed, fmt.Sprintf("%s; no difference shown (%s)", text, d.Why())
	}
	return Failed, fmt.Sprintf("%s (%s)", text, d.Why())
}

// changeText is the change before the figures it is of: "+5.0 %, 10 ms to 10.5 ms". A change from nothing has no percentage.
func changeText(change float64, figures string) string {
	switch {
	case math.IsInf(change, 0):
		return figures
	case change > 0:
		return "+" + unit.Share.Format(change) + ", " + figures
	}
	return unit.Share.Format(change) + ", " + figures
}
