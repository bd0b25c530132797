package gate

import (
	"fmt"
	"math"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Changes judges by how much the second side of each pair differs from the first. From 10 ms to 12 ms is a
// change of +20 %, which "e2e_p99 > +10%" is true of. A pair is points that were given the same work, such as
// one broker in two versions; curves are judged rate by rate.
//
// A change of medians fails a pair only if a test shows the difference (decision 006). With too few repetitions
// for a test the medians alone decide, and the verdict says so: otherwise the gate could never fail. Counts, per
// repetition, are not tested: a lost message is a fact, not a sample.
func Changes(pairs []results.Pair, conditions []Condition) []Verdict {
	var verdicts []Verdict
	for _, c := range conditions {
		var ofCondition []Verdict
		for _, p := range pairs {
			ofCondition = append(ofCondition, c.judgePair(p)...)
		}
		verdicts = append(verdicts, ofCondition...)
		verdicts = append(verdicts, unjudged(c.Text, ofCondition, "no workload has values of both sides to judge")...)
	}
	return verdicts
}

// judgePair gives one verdict on a pair, or one for each rate of its curves. Rates that can't be judged come last.
func (c Condition) judgePair(p results.Pair) []Verdict {
	for _, side := range [][]results.Point{p.A, p.B} {
		if outcome, why := judgeSideEnding(side); outcome != Passed {
			return []Verdict{{Condition: c.Text, Point: p.Title, Outcome: outcome, Text: why}}
		}
	}
	var judged, skipped []Verdict
	for _, load := range pairLoadsOf(p) {
		v := Verdict{Condition: c.Text, Point: p.Title}
		if load.rate != "" {
			v.Point += ", " + load.rate
		}
		v.Outcome, v.Text = c.judgePairLoad(load)
		switch {
		case v.Outcome != Skipped:
			judged = append(judged, v)
		case v.Text != "":
			skipped = append(skipped, v)
		}
	}
	if len(judged)+len(skipped) == 0 {
		why := c.notOnBothSides(p.A[0].Records)
		return []Verdict{{Condition: c.Text, Point: p.Title, Outcome: Skipped, Text: why}}
	}
	return append(judged, skipped...)
}

// judgeSideEnding returns Passed if a side can be judged by its figures, and otherwise why not: a point of it
// failed, or all were skipped.
func judgeSideEnding(side []results.Point) (Outcome, string) {
	canBeJudged, whySkipped := false, ""
	for _, p := range side {
		switch outcome, why := judgeEnding(p); outcome {
		case Failed:
			return Failed, p.Name + " " + why
		case Skipped:
			whySkipped = p.Name + " " + why
		default:
			canBeJudged = true
		}
	}
	if canBeJudged {
		return Passed, ""
	}
	return Skipped, whySkipped
}

// pairLoad is one load of a pair. A pair of curves over 1k/s and 2k/s has two; if the second side was also
// measured at 5k/s, that is a third one, of which the first side has no repetitions.
type pairLoad struct {
	rate  string      // of a curve; empty for the points' own load, in which the sides may be meant to differ
	sides [2]sideLoad // first and second
}

// sideLoad is the repetitions of one side at one load.
type sideLoad struct {
	records []store.Record // that ended ok
	failure string         // how the last one that did not end ok ended, in words
}

func (l sideLoad) empty() bool { return len(l.records) == 0 && l.failure == "" }

// pairLoadsOf lists the loads of a pair, those of the first side first. A repetition that did not end ok as a
// whole is left out.
func pairLoadsOf(p results.Pair) []pairLoad {
	var loads []pairLoad
	repetitions := append(repetitionsOf(p.A, 0), repetitionsOf(p.B, 1)...)
	for _, g := range results.GroupBy(repetitions, func(r repetition) string { return r.rate }) {
		load := pairLoad{rate: g.Name}
		for _, r := range g.Members {
			side := &load.sides[r.side]
			if r.record.Status == store.OK {
				side.records = append(side.records, r.record)
			} else {
				side.failure = fmt.Sprintf("%s %s: %s", r.point, r.record.Status, r.record.Reason)
			}
		}
		loads = append(loads, load)
	}
	return loads
}

// repetition is one repetition at one load.
type repetition struct {
	side   int    // index in pairLoad.sides
	point  string // its name
	rate   string // as in pairLoad
	record store.Record
}

func repetitionsOf(points []results.Point, side int) []repetition {
	var repetitions []repetition
	for _, p := range points {
		for _, r := range p.Ok() {
			for _, l := range results.Loads(r) {
				rate := ""
				if l.Rate > 0 {
					rate = l.Name
				}
				repetitions = append(repetitions, repetition{side: side, point: p.Name, rate: rate, record: l.Record})
			}
		}
	}
	return repetitions
}

func (c Condition) notOnBothSides(records []store.Record) string {
	return c.metric.Key + " was not measured on both sides" + c.closedLoopNote(records)
}

// judgePairLoad judges one load of a pair. It is skipped without a text if neither side has the metric: a
// curve's rates have no sustainable rate, and needn't say so one by one.
func (c Condition) judgePairLoad(l pairLoad) (Outcome, string) {
	first, second := l.sides[0], l.sides[1]
	switch {
	case second.empty():
		return Skipped, "only the first side has this load"
	case first.empty():
		return Skipped, "only the second side has this load"
	case first.failure != "":
		return Failed, first.failure
	case second.failure != "":
		return Failed, second.failure
	}
	a, b := c.summarize(first.records), c.summarize(second.records)
	switch {
	case a.N == 0 && b.N == 0:
		return Skipped, ""
	case a.N == 0 || b.N == 0:
		return Skipped, c.notOnBothSides(first.records)
	case c.metric.Counts():
		return c.judgeCounts(a, b)
	}
	d := results.Contrast(c.values(first.records), c.values(second.records))
	d.A.ClockBound, d.B.ClockBound = a.ClockBound, b.ClockBound
	return c.judgeMedians(d)
}

// judgeCounts judges the change of sums, per repetition.
func (c Condition) judgeCounts(a, b results.Summary) (Outcome, string) {
	change := changeOf(a.Median/float64(a.N), b.Median/float64(b.N)) // the medians of counts are their sums
	figures := fmt.Sprintf("%s (n=%d) to %s (n=%d)", c.format(a.Median), a.N, c.format(b.Median), b.N)
	return c.outcome(change), changeText(change, figures)
}

// judgeMedians judges the change of medians by the test of the values behind them.
func (c Condition) judgeMedians(d results.Difference) (Outcome, string) {
	change := changeOf(d.A.Median, d.B.Median)
	text := changeText(change, c.format(d.A.Median)+" to "+c.format(d.B.Median))
	if bound := d.ClockBound(); bound > 0 {
		least := max(0, d.A.Median-d.A.ClockBound) // a latency can't be below 0
		smallest, largest := changeOf(d.A.Median+d.A.ClockBound, d.B.Median-d.B.ClockBound), changeOf(least, d.B.Median+d.B.ClockBound)
		if c.openWithin(smallest, largest) {
			return Undecided, fmt.Sprintf("%s: the clocks by which they were taken leave ±%s open", text, c.format(bound))
		}
	}
	if !c.crossedBy(change) {
		return Passed, fmt.Sprintf("%s (n=%d and n=%d)", text, d.A.N, d.B.N)
	}
	switch d.Answer() {
	case results.NotTested:
		return Failed, fmt.Sprintf("%s; the medians alone decide: %s", text, d.Why())
	case results.NoDifferenceShown:
		return Passed, fmt.Sprintf("%s; no difference shown (%s)", text, d.Why())
	default:
		return Failed, fmt.Sprintf("%s (%s)", text, d.Why())
	}
}

// changeOf returns by how much b is more than a, as a fraction of a: 0.2 from 10 to 12. From zero to zero it is
// 0. From zero to something it is infinite, which is more than any limit.
func changeOf(a, b float64) float64 {
	switch {
	case a != 0:
		return b/a - 1
	case b != 0:
		return math.Inf(1)
	}
	return 0
}

// changeText puts a change before its figures: "+5.0 %, 10 ms to 10.5 ms". A change from zero has no percentage.
func changeText(change float64, figures string) string {
	switch {
	case math.IsInf(change, 0):
		return figures
	case change > 0:
		return "+" + unit.Share.Format(change) + ", " + figures
	}
	return unit.Share.Format(change) + ", " + figures
}
