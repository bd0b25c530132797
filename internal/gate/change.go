package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Changes judges by how much the second side of each pair differs from the first, curves rate by rate. Of counts it is
// the change of the amount per repetition, and counts as it is: a loss is a fact, not a sample. Of every other metric
// it is the change of the medians. That counts if the test shows the difference; with too few
// repetitions for any test it counts as it is, and says so, because a gate that can't fail is none.
func Changes(pairs []results.Pair, conditions []Condition) []Verdict {
	var verdicts []Verdict
	for _, c := range conditions {
		judged := false
		for _, p := range pairs {
			for _, v := range c.changes(p) {
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

// changes judges a pair: one verdict, or of curves one for each rate that both sides have.
func (c Condition) changes(p results.Pair) []Verdict {
	v := Verdict{Condition: c.Text, Point: p.Title}
	var sides [2][]load
	for i, points := range [2][]results.Point{p.A, p.B} {
		refused := true
		for _, point := range points {
			outcome, text := ending(point)
			if v.Text = point.Name + " " + text; outcome == Failed {
				v.Outcome = Failed
				return []Verdict{v}
			}
			refused = refused && outcome == Skipped
			sides[i] = join(sides[i], point)
		}
		if refused {
			v.Outcome = Skipped
			return []Verdict{v}
		}
	}
	var out []Verdict
	for _, a := range sides[0] {
		at := slices.IndexFunc(sides[1], func(b load) bool { return b.point == a.point })
		if at < 0 {
			continue
		}
		if w := c.change(v, a, sides[1][at]); w.Outcome != Skipped {
			out = append(out, w)
		}
	}
	if out == nil {
		v.Outcome, v.Text = Skipped, c.metric.Key+" was not measured on both sides"+c.closed(p.A[0].Records)
		out = append(out, v)
	}
	return out
}

// join adds a point's loads to those of its side; the names of loads take the place of points.
func join(side []load, p results.Point) []load {
	for _, r := range p.Ok() {
		for _, l := range results.Loads(r) {
			name := l.Name
			if l.Rate == 0 { // however the sides are meant to differ, their own loads are compared
				name = ""
			}
			i := slices.IndexFunc(side, func(s load) bool { return s.point == name })
			if i < 0 {
				i = len(side)
				side = append(side, load{point: name})
			}
			if l.Record.Status == store.OK {
				side[i].records = append(side[i].records, l.Record)
			} else {
				side[i].ended = Verdict{Outcome: Failed, Text: fmt.Sprintf("%s %s: %s", p.Name, l.Record.Status, l.Record.Reason)}
			}
		}
	}
	return side
}

// change judges one load that both sides have.
func (c Condition) change(v Verdict, a, b load) Verdict {
	if a.point != "" {
		v.Point += ", " + a.point
	}
	for _, side := range []load{a, b} {
		if side.ended.Outcome == Failed {
			v.Outcome, v.Text = Failed, side.ended.Text
			return v
		}
	}
	sides := [2]results.Summary{c.over(a.records), c.over(b.records)}
	switch {
	case sides[0].N == 0 || sides[1].N == 0:
		v.Outcome = Skipped
	case c.counts():
		v.Outcome, v.Text = c.judgeCounts(sides[0], sides[1])
	default:
		v.Outcome, v.Text = c.judgeChange(results.Contrast(c.values(a.records), c.values(b.records)))
	}
	return v
}

// changed is by how much b is more than a: from nothing to nothing is no change; from nothing to something has no
// percentage, and is beyond any.
func changed(a, b float64) float64 {
	switch {
	case a != 0:
		return b/a - 1
	case b != 0:
		return math.Inf(1)
	}
	return 0
}

func (c Condition) judgeCounts(a, b results.Summary) (Outcome, string) {
	change := changed(a.Median/float64(a.N), b.Median/float64(b.N))
	text := fmt.Sprintf("%s (n=%d) to %s (n=%d)", c.metric.Unit.Format(a.Median), a.N, c.metric.Unit.Format(b.Median), b.N)
	if !math.IsInf(change, 0) {
		text = signed(change) + ", " + text
	}
	if c.crossed(change) {
		return Failed, text
	}
	return Passed, text
}

func (c Condition) judgeChange(d results.Difference) (Outcome, string) {
	change := changed(d.A.Median, d.B.Median)
	text := fmt.Sprintf("%s to %s", c.metric.Unit.Format(d.A.Median), c.metric.Unit.Format(d.B.Median))
	if !math.IsInf(change, 0) {
		text = signed(change) + ", " + text
	}
	switch crossed := c.crossed(change); {
	case crossed && d.Needed > 0:
		return Failed, fmt.Sprintf("%s; the medians alone decide: %s", text, d.Why())
	case crossed && !d.Shown():
		return Passed, fmt.Sprintf("%s; no difference shown (%s)", text, d.Why())
	case crossed:
		return Failed, fmt.Sprintf("%s (%s)", text, d.Why())
	}
	return Passed, fmt.Sprintf("%s (n=%d and n=%d)", text, d.A.N, d.B.N)
}

func signed(share float64) string {
	if share > 0 {
		return "+" + unit.Share.Format(share)
	}
	return unit.Share.Format(share)
}
