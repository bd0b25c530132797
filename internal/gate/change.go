package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Changes judges pairs of points that were given the same work, such as one broker in two versions, by how much the second differs from
// the first. Curves are judged rate by rate. From 10 ms to 12 ms is a change of +20 %, which "e2e_p99 > +10%" is true of.
//
// A change of medians fails a pair only if a test shows the difference (decision 006). With too few repetitions for a test the medians
// alone decide, and the verdict says so: otherwise the gate could never fail. Counts, per repetition, are not tested: a lost message is
// a fact, not a sample.
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

// judgePair gives one verdict on a pair, or one for each rate of its curves. A rate that only one side has, or at which only one has the
// metric, is skipped, with that reason.
func (c Condition) judgePair(p results.Pair) []Verdict {
	for _, side := range [][]results.Point{p.A, p.B} {
		if outcome, text := judgeSideEnding(side); outcome != Passed {
			return []Verdict{{Condition: c.Text, Point: p.Title, Outcome: outcome, Text: text}}
		}
	}
	var judged, oneSided []Verdict
	loadsOfA, loadsOfB := sideLoadsOf(p.A), sideLoadsOf(p.B)
	for _, a := range loadsOfA {
		b, both := findRate(loadsOfB, a.rate)
		if !both {
			oneSided = append(oneSided, c.verdictAt(p, a.rate, Skipped, "only the first side has this load"))
			continue
		}
		switch outcome, text := c.judgeLoads(a, b); {
		case outcome != Skipped:
			judged = append(judged, c.verdictAt(p, a.rate, outcome, text))
		case text != "":
			oneSided = append(oneSided, c.verdictAt(p, a.rate, outcome, text))
		}
	}
	for _, b := range loadsOfB {
		if _, both := findRate(loadsOfA, b.rate); !both {
			oneSided = append(oneSided, c.verdictAt(p, b.rate, Skipped, "only the second side has this load"))
		}
	}
	if judged == nil && oneSided == nil {
		judged = []Verdict{c.verdictAt(p, "", Skipped, c.notOnBothSides(p.A[0].Records))}
	}
	return append(judged, oneSided...)
}

// verdictAt is a verdict on a pair at a rate; empty for the points' own load.
func (c Condition) verdictAt(p results.Pair, rate string, outcome Outcome, text string) Verdict {
	v := Verdict{Condition: c.Text, Point: p.Title, Outcome: outcome, Text: text}
	if rate != "" {
		v.Point += ", " + rate
	}
	return v
}

func findRate(loads []sideLoad, rate string) (sideLoad, bool) {
	i := slices.IndexFunc(loads, func(l sideLoad) bool { return l.rate == rate })
	if i < 0 {
		return sideLoad{}, false
	}
	return loads[i], true
}

// judgeSideEnding returns Passed if a side can be judged by its figures, and otherwise why not: a point of it failed, or all were skipped.
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

// sideLoad is one load of a side, over all its points.
type sideLoad struct {
	rate    string         // of a curve; empty for the points' own load, in which the sides may be meant to differ
	records []store.Record // that ended ok
	failure string         // how a repetition that did not end ok ended at this load, in words; empty if all ended ok
}

// sideLoadsOf gathers the loads of a side's repetitions that ended ok as a whole.
func sideLoadsOf(points []results.Point) []sideLoad {
	type run struct {
		point string
		load  results.RepetitionLoad
	}
	var runs []run
	for _, p := range points {
		for _, r := range p.Ok() {
			for _, l := range results.Loads(r) {
				runs = append(runs, run{point: p.Name, load: l})
			}
		}
	}
	rateOf := func(r run) string {
		if r.load.Rate > 0 {
			return r.load.Name
		}
		return ""
	}
	var loads []sideLoad
	for _, g := range results.GroupBy(runs, rateOf) {
		load := sideLoad{rate: g.Name}
		for _, r := range g.Members {
			if record := r.load.Record; record.Status == store.OK {
				load.records = append(load.records, record)
			} else {
				load.failure = fmt.Sprintf("%s %s: %s", r.point, record.Status, record.Reason)
			}
		}
		loads = append(loads, load)
	}
	return loads
}

// notOnBothSides says that a metric was not measured on both sides.
func (c Condition) notOnBothSides(records []store.Record) string {
	return c.metric.Key + " was not measured on both sides" + c.closedLoopNote(records)
}

// judgeLoads judges one load that both sides have. It is skipped without a text if neither side has the metric: a curve's rates have no
// sustainable rate, and needn't say so one by one.
func (c Condition) judgeLoads(first, second sideLoad) (Outcome, string) {
	for _, l := range []sideLoad{first, second} {
		if l.failure != "" {
			return Failed, l.failure
		}
	}
	a, b := c.over(first.records), c.over(second.records)
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
	return c.outcome(change), changeText(change, fmt.Sprintf("%s (n=%d) to %s (n=%d)", c.format(a.Median), a.N, c.format(b.Median), b.N))
}

// judgeMedians judges the change of medians by the test of the values behind them.
func (c Condition) judgeMedians(d results.Difference) (Outcome, string) {
	change := changeOf(d.A.Median, d.B.Median)
	text := changeText(change, c.format(d.A.Median)+" to "+c.format(d.B.Median))
	bound := d.ClockBound()
	if c.crossedBy(changeOf(d.A.Median, d.B.Median-bound)) != c.crossedBy(changeOf(d.A.Median, d.B.Median+bound)) {
		return Undecided, fmt.Sprintf("%s: the clocks by which they were taken leave ±%s open", text, c.format(bound))
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

// changeOf is by how much b is more than a, as a fraction of a. From zero to zero it is 0. From zero to something it is infinite, which
// is more than any limit.
func changeOf(a, b float64) float64 {
	switch {
	case a != 0:
		return b/a - 1
	case b != 0:
		return math.Inf(1)
	}
	return 0
}

// changeText is the change before the figures that it is of: "+5.0 %, 10 ms to 10.5 ms". A change from zero has no percentage.
func changeText(change float64, figures string) string {
	switch {
	case math.IsInf(change, 0):
		return figures
	case change > 0:
		return "+" + unit.Share.Format(change) + ", " + figures
	}
	return unit.Share.Format(change) + ", " + figures
}
