package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Outcome is how a point fares at a gate.
type Outcome string

// Outcomes.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed" // the threshold is crossed, or the point can't be judged because something went wrong
	// Undecided: the threshold is within what the clocks of agents are known to each other to. Like a point that can't be judged it
	// fails a command.
	Undecided Outcome = "undecided"
	Skipped   Outcome = "skipped" // refused, published, or nothing of the kind was measured at the point
)

// Verdict is the outcome of one condition at one point.
type Verdict struct {
	Condition string // empty if a point is judged by how it ended
	Point     string
	Study     string
	Outcome   Outcome
	Text      string // the figures that decided, in words
	Seconds   float64
}

// Endings judges points, and the rates of curves, by how their repetitions ended, whatever was measured.
func Endings(set *results.Set) []Verdict {
	var verdicts []Verdict
	for _, l := range loads(set) {
		verdicts = append(verdicts, l.ended)
	}
	return verdicts
}

// Judge judges every point, and every rate of a curve, by every condition: counts by their sum over the repetitions,
// everything else by the median. A point that failed, or has no repetition that ended ok, fails with its reason; a
// refused one is skipped. A condition that no point could be judged by fails: a gate that looks at nothing must not let
// pass.
func Judge(set *results.Set, conditions []Condition) []Verdict {
	var verdicts []Verdict
	all := loads(set)
	for _, c := range conditions {
		judged := false
		for _, l := range all {
			if v, ok := c.judgeLoad(l, all); ok {
				judged = judged || v.Outcome != Skipped
				verdicts = append(verdicts, v)
			}
		}
		if !judged {
			verdicts = append(verdicts, unjudged(c.Text))
		}
	}
	return verdicts
}

// judgeLoad judges one of all loads. There is no verdict (ok is false) if the load lacks the metric and another load of its point has
// it: the rates of a curve have no sustainable rate, and needn't say so one by one.
func (c Condition) judgeLoad(l load, all []load) (v Verdict, ok bool) {
	v = l.ended
	v.Condition = c.Text
	if v.Outcome != Passed {
		return v, true
	}
	v.Outcome, v.Text = c.judge(l.records)
	hasMetric := func(o load) bool { return o.point == l.point && len(c.values(o.records)) > 0 }
	return v, v.Outcome != Skipped || !slices.ContainsFunc(all, hasMetric)
}

// unjudged is the verdict on a condition that no point could be judged by.
func unjudged(condition string) Verdict {
	return Verdict{Condition: condition, Outcome: Failed, Point: "all points", Text: "no point has a value to judge"}
}

// load is a point under one load.
type load struct {
	point   string         // its ID
	spec    study.Spec     // of the latest record, whose objectives hold
	ended   Verdict        // without a condition; Passed if the load can be judged by its figures
	records []store.Record // that ended ok
}

// loads lists the points, and in the place of a curve each of its rates.
func loads(set *results.Set) []load {
	var all []load
	for _, p := range set.Points {
		whole := load{point: p.ID, spec: p.Records[len(p.Records)-1].Spec, ended: about(p), records: p.Ok()}
		whole.ended.Outcome, whole.ended.Text = ending(p)
		loadPoints := p.LoadPoints()
		if whole.ended.Outcome != Passed || p.Spec.Measure != "curve" || len(loadPoints) == 0 {
			all = append(all, whole)
			continue
		}
		for i, l := range loadsOfCurve(loadPoints) {
			at := whole
			if i > 0 {
				at.ended.Seconds = 0 // the time that the point took is told once
			}
			at.ended.Point = strings.Join([]string{p.Name, p.Setting(), "curve", l.Name}, ", ")
			at.records = l.Records
			if !l.Used() {
				at.ended.Outcome, at.ended.Text, at.records = Failed, fmt.Sprintf("%s: %s", l.Status, firstLine(l.Why.Text)), nil
			}
			all = append(all, at)
		}
	}
	return all
}

// loadsOfCurve leaves out a rate that was void or aborted in some repetitions if it ended ok in others, which say how it went. One that
// failed in some repetitions stays: a broken promise is not made good by another repetition.
func loadsOfCurve(loadPoints []results.LoadPoint) []results.LoadPoint {
	return slices.DeleteFunc(slices.Clone(loadPoints), func(l results.LoadPoint) bool {
		endedOk := func(o results.LoadPoint) bool { return o.Name == l.Name && o.Used() }
		return (l.Status == store.Void || l.Status == store.Aborted) && slices.ContainsFunc(loadPoints, endedOk)
	})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// about says which point a verdict is about, and how long all its repetitions took.
func about(p results.Point) Verdict {
	v := Verdict{Point: strings.Join([]string{p.Name, p.Setting(), p.Load()}, ", ")}
	for _, r := range p.Records {
		v.Study = r.Study
		v.Seconds += r.Ended.Sub(r.Began).Seconds()
	}
	return v
}

// ending tells whether a point can be judged by its figures: Passed, with how many repetitions.
func ending(p results.Point) (Outcome, string) {
	count := map[store.Status]int{}
	reason := map[store.Status]string{}
	for _, r := range p.Records {
		if count[r.Status]++; count[r.Status] == 1 {
			reason[r.Status] = firstLine(r.Reason)
		}
	}
	switch n := len(p.Records); {
	case p.Published():
		return Skipped, "published figures, not measured here: no gate judges them"
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

// closed says why records of a closed loop can't be judged by a latency.
func (c Condition) closed(records []store.Record) string {
	loop := func(r store.Record) bool { return results.ClosedLoop(r.Spec) }
	if !c.metric.Latency() || !slices.ContainsFunc(records, loop) {
		return ""
	}
	return ": the latency of a closed loop says how full the window or the backlog was"
}

// judge judges the records of a load that ended ok. It is skipped if none has the metric.
func (c Condition) judge(records []store.Record) (Outcome, string) {
	s := c.over(records)
	if s.N == 0 {
		return Skipped, c.metric.Key + " was not measured" + c.closed(records)
	}
	text := fmt.Sprintf("%s (n=%d)", c.show(s.Median), s.N)
	switch {
	case s.N > 1 && c.metric.Counts():
		text = fmt.Sprintf("%s in all (n=%d)", c.show(s.Median), s.N)
	case s.N > 1:
		text = fmt.Sprintf("%s, %s–%s (n=%d)", c.show(s.Median), c.show(s.Low), c.show(s.High), s.N)
	}
	low, high := s.Median-s.Bound, s.Median+s.Bound
	switch {
	case s.Bound > 0 && (c.crossed(low) != c.crossed(high) || c.limit > low && c.limit < high):
		return Undecided, fmt.Sprintf("%s: the clocks of the agents are known to ±%s, and the truth is from %s to %s", text, c.show(s.Bound), c.show(low), c.show(high))
	case c.crossed(s.Median):
		return Failed, text
	}
	return Passed, text
}

// Failures counts the verdicts that fail a command: those that failed, and those that are undecided.
func Failures(verdicts []Verdict) (n int) {
	for _, v := range verdicts {
		if v.Outcome == Failed || v.Outcome == Undecided {
			n++
		}
	}
	return n
}
