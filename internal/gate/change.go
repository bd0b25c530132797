package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Changes judges by how much the second side of each pair differs from the first. From 10 ms to 12 ms is a
// change of +20 %, which "e2e_p99 > +10%" is true of. A pair is two sides that were given the same work, such as one
// broker in two versions; curves are judged rate by rate. A workload or a rate that only one side has fails, unless that is
// allowed: it is skipped then.
//
// The interval of the change decides. A pair passes if the condition is true nowhere in it, fails if it is true everywhere, and is
// undecided otherwise, so that more repetitions make no gate more lenient. Counts, per repetition, have no interval: a lost message is a
// fact, not a sample.
func Changes(pairs []results.Pair, conditions []Condition, allowMissing bool) []Verdict {
	var verdicts []Verdict
	for _, c := range conditions {
		ofCondition := lists.Flat(pairs, func(p results.Pair) []Verdict { return c.judgePair(p, allowMissing) })
		verdicts = append(verdicts, ofCondition...)
		verdicts = append(verdicts, unjudged(c.Text, ofCondition, "no workload has values of both sides to judge")...)
	}
	return verdicts
}

// missing returns the outcome for a pair or a rate that only one side has.
func missing(allowed bool) Outcome {
	if allowed {
		return Skipped
	}
	return Failed
}

// judgePair gives one verdict on a pair, or one for each rate of its curves. Rates that can't be judged come last.
func (c Condition) judgePair(p results.Pair, allowMissing bool) []Verdict {
	if only := p.OnlySide(); only != "" {
		published := slices.Concat(p.A, p.B)[0].Published()
		return []Verdict{{Condition: c.Text, Point: p.Title, Outcome: missing(allowMissing || published), Text: "only the " + only + " side has this workload"}}
	}
	for _, side := range [][]results.Point{p.A, p.B} {
		if outcome, why := judgeSideEnding(side); outcome != Passed {
			return []Verdict{{Condition: c.Text, Point: p.Title, Outcome: outcome, Text: why}}
		}
	}
	var judged, skipped []Verdict
	for _, load := range pairLoadsOf(p) {
		if c.lacksMetric(load) {
			continue // a curve's rates have no sustainable rate, and needn't say so one by one
		}
		v := Verdict{Condition: c.Text, Point: p.Title}
		if load.rate != "" {
			v.Point += ", " + load.rate
		}
		v.Outcome, v.Text = c.judgePairLoad(load, allowMissing)
		if v.Outcome == Skipped {
			skipped = append(skipped, v)
		} else {
			judged = append(judged, v)
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
		case Failed, Undecided:
			return outcome, p.Name + " " + why
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

// pairLoad is one load of a pair. A pair of curves over 1k/s and 2k/s has two; if the second side was also measured at
// 5k/s, that is a third one, of which the first side has no repetitions.
type pairLoad struct {
	rate          string // of a curve; empty for the points' own load, in which the sides may be meant to differ
	first, second sideLoad
}

// sideLoad is the repetitions of one side at one load.
type sideLoad struct {
	rate    string         // as in pairLoad
	records []store.Record // that ended ok
	failure string         // how the last one that failed ended, in words; without any that ended ok, the last that did not
}

func (l sideLoad) empty() bool { return len(l.records) == 0 && l.failure == "" }

// pairLoadsOf lists the loads of a pair, those of the first side first.
func pairLoadsOf(p results.Pair) []pairLoad {
	loads := lists.Map(sideLoadsOf(p.A), func(first sideLoad) pairLoad { return pairLoad{rate: first.rate, first: first} })
	for _, second := range sideLoadsOf(p.B) {
		i := slices.IndexFunc(loads, func(l pairLoad) bool { return l.rate == second.rate })
		if i < 0 {
			loads = append(loads, pairLoad{rate: second.rate, second: second})
		} else {
			loads[i].second = second
		}
	}
	return loads
}

// sideLoadsOf lists the loads of a side. A repetition that did not end ok as a whole is left out. So is one that was void or aborted at a load
// if others ended ok there (see withoutRemeasured).
func sideLoadsOf(points []results.Point) []sideLoad {
	var loads []sideLoad
	showsNothing := map[string]string{} // how the last void or aborted one ended, by rate
	for _, p := range points {
		for _, r := range p.Ok() {
			for _, l := range results.Loads(r) {
				rate := ""
				if l.Rate > 0 {
					rate = l.Name
				}
				i := slices.IndexFunc(loads, func(known sideLoad) bool { return known.rate == rate })
				if i < 0 {
					i = len(loads)
					loads = append(loads, sideLoad{rate: rate})
				}
				ending := fmt.Sprintf("%s %s: %s", p.Name, l.Record.Status, firstLine(l.Record.Reason))
				switch l.Record.Status {
				case store.OK:
					loads[i].records = append(loads[i].records, l.Record)
				case store.Failed:
					loads[i].failure = ending
				default:
					showsNothing[rate] = ending
				}
			}
		}
	}
	for i, l := range loads {
		if l.empty() {
			loads[i].failure = showsNothing[l.rate]
		}
	}
	return loads
}

// notOnBothSides returns why a pair is skipped. The records of one side will do: both were given the same load, so both
// or none are of a closed loop.
func (c Condition) notOnBothSides(records []store.Record) string {
	return c.metric.Key + " was not measured on both sides" + c.closedLoopNote(records)
}

// lacksMetric reports whether both sides ended ok at a load, and neither has a value of the metric.
func (c Condition) lacksMetric(l pairLoad) bool {
	lacks := func(side sideLoad) bool {
		return !side.empty() && side.failure == "" && len(c.values(side.records)) == 0
	}
	return lacks(l.first) && lacks(l.second)
}

// judgePairLoad judges one load of a pair.
func (c Condition) judgePairLoad(l pairLoad, allowMissing bool) (Outcome, string) {
	switch {
	case l.second.empty():
		return missing(allowMissing), "only the first side has this load"
	case l.first.empty():
		return missing(allowMissing), "only the second side has this load"
	case l.first.failure != "":
		return Failed, l.first.failure
	case l.second.failure != "":
		return Failed, l.second.failure
	}
	first, second := c.summarize(l.first.records), c.summarize(l.second.records)
	switch {
	case first.N == 0 || second.N == 0:
		return Skipped, c.notOnBothSides(l.first.records)
	case c.metric.Counts():
		return c.judgeCounts(first, second)
	}
	outcome, text := c.judgeChange(results.DifferenceOf(c.metric, l.first.records, l.second.records))
	if outcome == Failed {
		// Both sides were measured by the same generator. Only what it may have added to one of them and not to the other matters.
		own := first.Median - c.withoutOwn(l.first.records) - (second.Median - c.withoutOwn(l.second.records))
		if !c.crossedBy(changeOf(first.Median-max(0, own), second.Median-max(0, -own))) {
			return Undecided, text + "; on one side more than on the other, " + c.ownPart(math.Abs(own))
		}
	}
	return outcome, text
}

// judgeCounts judges the change of counts per repetition. The text has the measured counts, which are of all repetitions,
// and the number of repetitions.
func (c Condition) judgeCounts(first, second results.Summary) (Outcome, string) {
	firstSum, secondSum := first.Median, second.Median // summarize adds up counts, and puts the sum there
	change := changeOf(firstSum/float64(first.N), secondSum/float64(second.N))
	figures := fmt.Sprintf("%s (n=%d) to %s (n=%d)", c.format(firstSum), first.N, c.format(secondSum), second.N)
	return c.outcome(change), changeText(change, figures)
}

// judgeChange judges the change of medians by its interval.
func (c Condition) judgeChange(d results.Difference) (Outcome, string) {
	first, second := d.A, d.B
	text := changeText(changeOf(first.Median, second.Median), c.formatMedian(first)+" to "+c.formatMedian(second))
	if first.AtLeast() || second.AtLeast() { // the ratio of bounds is no change
		text = c.formatMedian(first) + " to " + c.formatMedian(second)
	}
	low, high := d.Low-1, d.High-1
	if first.High == 0 && second.High == 0 {
		low, high = 0, 0
	}
	switch {
	case c.openWithin(low, high):
		return Undecided, fmt.Sprintf("%s; %s", text, d.Why())
	case c.crossedBy(low):
		return Failed, fmt.Sprintf("%s (%s)", text, d.Why())
	}
	return Passed, fmt.Sprintf("%s (%s)", text, d.Why())
}

// changeOf returns by how much a value grew, as a fraction of what it was: 0.2 from 10 to 12. From zero to zero it is
// 0. From zero to something it is infinite, which is more than any limit.
func changeOf(from, to float64) float64 {
	switch {
	case from != 0:
		return to/from - 1
	case to != 0:
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
