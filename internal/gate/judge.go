package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
)

// Outcome is how a point fares at a gate.
type Outcome string

// Outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"  // the threshold is crossed, or the point can't be judged because something went wrong
	Skipped Outcome = "skipped" // refused, or nothing of the kind was measured at the point
)

// Verdict is the outcome of one condition at one point.
type Verdict struct {
	Condition string // "" where a point is judged by how it ended
	Point     string
	Study     string
	Outcome   Outcome
	Text      string // what was seen, in words
	Seconds   float64
}

// Endings judges points by how their repetitions ended, whatever was measured.
func Endings(records []store.Record) []Verdict {
	var verdicts []Verdict
	for _, p := range report.Points(records) {
		v := about(p)
		v.Outcome, v.Text = ending(p)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// Judge judges every point by every condition, by the median over its repetitions. A point that failed, or has no
// repetition that ended ok, fails with its reason; a refused one is skipped. A condition that no point could be judged
// by fails: a gate that looks at nothing must not let pass.
func Judge(records []store.Record, conditions []Condition) []Verdict {
	var verdicts []Verdict
	points := report.Points(records)
	for _, c := range conditions {
		judged := false
		for _, p := range points {
			v := about(p)
			v.Condition = c.Text
			if v.Outcome, v.Text = ending(p); v.Outcome == Passed {
				v.Outcome, v.Text = c.judge(p.Ok())
			}
			judged = judged || v.Outcome != Skipped
			verdicts = append(verdicts, v)
		}
		if !judged {
			verdicts = append(verdicts, Verdict{Condition: c.Text, Outcome: Failed, Point: "all points", Text: "no point has a value to judge"})
		}
	}
	return verdicts
}

func about(p report.Point) Verdict {
	v := Verdict{Point: strings.Join([]string{p.Name, p.Setting(), p.Load()}, ", ")}
	for _, r := range p.Records {
		v.Study = r.Study
		v.Seconds += r.Ended.Sub(r.Began).Seconds()
	}
	return v
}

// ending tells whether a point can be judged by its figures: Passed, with how many repetitions.
func ending(p report.Point) (Outcome, string) {
	count := map[store.Status]int{}
	reason := map[store.Status]string{}
	for _, r := range p.Records {
		if count[r.Status]++; count[r.Status] == 1 {
			reason[r.Status], _, _ = strings.Cut(r.Reason, "\n")
		}
	}
	switch n := len(p.Records); {
	case count[store.Refused] == n:
		return Skipped, "refused: " + reason[store.Refused]
	case count[store.Failed] > 0:
		return Failed, fmt.Sprintf("%s: %s", p.Status(), reason[store.Failed])
	case count[store.OK] > 0:
		return Passed, p.Status()
	}
	for _, status := range []store.Status{store.Void, store.Aborted} {
		if count[status] > 0 {
			return Failed, fmt.Sprintf("%s: %s", p.Status(), reason[status])
		}
	}
	return Failed, p.Status()
}

func (c Condition) judge(records []store.Record) (Outcome, string) {
	values := c.values(records)
	if len(values) == 0 {
		return Skipped, c.metric.Key + " was not measured"
	}
	s := report.Summarize(values)
	text := fmt.Sprintf("%s (n=%d)", c.show(s.Median), s.N)
	if s.N > 1 {
		text = fmt.Sprintf("%s, %s–%s (n=%d)", c.show(s.Median), c.show(s.Low), c.show(s.High), s.N)
	}
	if c.crossed(s.Median) {
		return Failed, text
	}
	return Passed, text
}

// Changes judges by how much the second side of each pair differs from the first. The change is that of the medians.
// It counts when the test shows the difference; where there are too few repetitions for any test it counts as it is,
// and says so, because a gate that can't fail is none.
func Changes(pairs []reports.Pair, conditions []Condition) []Verdict {
	var verdicts []Verdict
	for _, c := range conditions {
		judged := false
		for _, p := range pairs {
			v := Verdict{Condition: c.Text, Point: p.Title}
			v.Outcome, v.Text = c.change(p)
			judged = judged || v.Outcome != Skipped
			verdicts = append(verdicts, v)
		}
		if !judged {
			verdicts = append(verdicts, Verdict{Condition: c.Text, Outcome: Failed, Point: "all points", Text: "no workload has values of both sides to judge"})
		}
	}
	return verdicts
}

func (c Condition) change(p reports.Pair) (Outcome, string) {
	var sides [2][]float64
	for i, points := range [2][]report.Point{p.A, p.B} {
		var sound []store.Record
		refused := true
		for _, point := range points {
			outcome, text := ending(point)
			if outcome == Failed {
				return Failed, point.Name + " " + text
			}
			refused = refused && outcome == Skipped
			sound = append(sound, point.Ok()...)
		}
		if refused {
			_, text := ending(points[0])
			return Skipped, points[0].Name + " " + text
		}
		sides[i] = c.values(sound)
	}
	if len(sides[0]) == 0 || len(sides[1]) == 0 {
		return Skipped, c.metric.Key + " was not measured on both sides"
	}
	return c.judgeChange(report.Contrast(sides[0], sides[1]))
}

func (c Condition) judgeChange(d report.Difference) (Outcome, string) {
	change := d.B.Median/d.A.Median - 1
	if d.A.Median == 0 {
		change = 0 // from nothing to nothing; from nothing to something has no percentage, and is beyond any
		if d.B.Median != 0 {
			change = math.Inf(1)
		}
	}
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
		return "+" + report.Share.Format(share)
	}
	return report.Share.Format(share)
}

// Failures counts the failed verdicts.
func Failures(verdicts []Verdict) (n int) {
	for _, v := range verdicts {
		if v.Outcome == Failed {
			n++
		}
	}
	return n
}
