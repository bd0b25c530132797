package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Verdict is the outcome of one condition at one point, for example "failed: 61.2 ms (n=3)" of "e2e_p99 > 50ms" at
// "kafka, 100 B, at-least-once, rate 1k/s". A point is a broker with one complete set of settings, measured in one
// or more repetitions. A curve measures several rates in each repetition and has a verdict for each rate.
type Verdict struct {
	Condition string // empty if the point is judged by how its repetitions ended
	Point     string // names the point and its load; AllPoints if no point could be judged
	Study     string
	Outcome   Outcome
	Unusable  bool    // Failed because of how the repetitions ended; nothing is said of their figures
	Text      string  // the figures that decided, in words
	Beyond    int     // how many repetitions are beyond the limit although their median, which is judged, is not
	Seconds   float64 // that the repetitions took; of a curve's rates the first has the time of all
}

// AllPoints is the Point of a verdict on a condition that no point could be judged by.
const AllPoints = "all points"

// Outcome is how a point fares at a gate.
type Outcome string

// The outcomes. Failed and Undecided fail a command.
const (
	Passed    Outcome = "passed"
	Failed    Outcome = "failed"    // the condition is true of it, or it can't be judged because something went wrong
	Undecided Outcome = "undecided" // the limit lies within the uncertainty, or too little was measured
	Skipped   Outcome = "skipped"   // refused by the broker, published by others, or the metric was not measured
)

// Failures counts the verdicts that fail a command.
func Failures(verdicts []Verdict) int {
	return len(lists.Filter(verdicts, func(v Verdict) bool { return v.Outcome == Failed || v.Outcome == Undecided }))
}

// Judge judges every point by every condition: counts by their sum over the repetitions, everything else by the
// median. A point of which a repetition failed, or none ended ok, fails with the reason; if fewer than half did, it is undecided. So does a condition that
// no point could be judged by: with a misspelt selection a gate would pass whatever happens.
func Judge(set *results.Set, conditions []Condition) []Verdict {
	var verdicts []Verdict
	for _, c := range conditions {
		var ofCondition []Verdict
		for _, p := range set.Points {
			loads := loadsOf(p)
			for _, l := range loads {
				ofCondition = append(ofCondition, c.judgeLoad(l, loads)...)
			}
		}
		verdicts = append(verdicts, ofCondition...)
		verdicts = append(verdicts, unjudged(c.Text, ofCondition, "no point has a value to judge")...)
	}
	return verdicts
}

// unjudged returns a verdict that fails a condition if all its verdicts on points or pairs are Skipped; none
// otherwise.
func unjudged(condition string, verdicts []Verdict, why string) []Verdict {
	if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Outcome != Skipped }) {
		return nil
	}
	return []Verdict{{Condition: condition, Outcome: Failed, Point: AllPoints, Text: why}}
}

// Endings judges every point, a curve rate by rate, by how its repetitions ended, whatever was measured.
func Endings(set *results.Set) []Verdict {
	return lists.Map(lists.Flat(set.Points, loadsOf), func(l load) Verdict { return l.ending })
}

// judgeLoad makes one verdict on a load of a point, or none if the load lacks the metric and another load of the point
// has it: the single rates of a curve have no sustainable rate, and needn't say so one by one.
func (c Condition) judgeLoad(l load, ofPoint []load) []Verdict {
	v := l.ending
	v.Condition = c.Text
	if v.Outcome != Passed {
		return []Verdict{v}
	}
	v.Outcome, v.Text = c.judgeRecords(l.records)
	if v.Outcome == Passed && !c.metric.Counts() {
		v.Beyond = len(lists.Filter(c.values(l.records), c.crossedBy))
	}
	hasMetric := func(other load) bool { return len(c.values(other.records)) > 0 }
	if v.Outcome == Skipped && slices.ContainsFunc(ofPoint, hasMetric) {
		return nil
	}
	return []Verdict{v}
}

// judgeRecords judges the records of a load that ended ok, and words the figures: "12.1 ms, 11.8 ms–12.6 ms (n=5)".
func (c Condition) judgeRecords(records []store.Record) (Outcome, string) {
	s := c.summarize(records)
	if s.N == 0 {
		return Skipped, c.metric.Key + " was not measured" + c.closedLoopNote(records)
	}
	text := c.formatMedian(s)
	switch {
	case s.N > 1 && c.metric.Counts():
		text += " in all"
	case s.N > 1 && !s.AtLeast():
		text += fmt.Sprintf(", %s–%s", c.format(s.Low), c.format(s.High))
	}
	text += fmt.Sprintf(" (n=%d)", s.N)
	if s.TooFew {
		return Undecided, text + ": " + results.TooFewMessages
	}
	least, most := s.Truth()
	if least == most || !c.openWithin(least, most) {
		if own := s.Median - c.withoutOwn(records); c.crossedBy(s.Median) && !c.crossedBy(least-own) {
			return Undecided, text + ": " + c.ownPart(own)
		}
		return c.outcome(s.Median), text
	}
	var why []string
	if s.ClockBound > 0 {
		why = append(why, "the clocks of the agents are known to ±"+c.format(s.ClockBound))
	}
	switch {
	case s.Above > 0 && s.Searched:
		why = append(why, "the search leaves that much open")
	case s.Above > 0:
		why = append(why, "messages never came")
	}
	truth := "lies within " + c.metric.Unit.Range(least, most)
	if math.IsInf(most, 1) {
		truth = "is at least " + c.format(least)
	}
	return Undecided, fmt.Sprintf("%s: %s, and the truth %s", text, strings.Join(why, ", "), truth)
}

// ownPart returns how much of a latency may be the generator's own part, in ns.
func (c Condition) ownPart(own float64) string {
	return fmt.Sprintf("up to %s of it may be the generator's own lag and pauses", c.format(own))
}

// outcome judges a value as if it had no error.
func (c Condition) outcome(v float64) Outcome {
	if c.crossedBy(v) {
		return Failed
	}
	return Passed
}

// closedLoopNote returns why a latency is missing in records of a closed loop. The result is empty for other metrics and loads.
func (c Condition) closedLoopNote(records []store.Record) string {
	isClosedLoop := func(r store.Record) bool { return r.Spec.ClosedLoop() }
	if !c.metric.Latency() || !slices.ContainsFunc(records, isClosedLoop) {
		return ""
	}
	return ": the latency of a closed loop says how full the window or the backlog was"
}

// load is a point under one load: its own, or one rate of its curve.
type load struct {
	ending  Verdict        // on how its repetitions ended, without a condition; Passed if its figures can be judged
	records []store.Record // that ended ok
}

// loadsOf lists the loads of a point: each rate of a curve, or the point's own load. A curve of which nothing was
// measured has only that.
func loadsOf(p results.Point) []load {
	whole := load{ending: endingVerdict(p), records: p.Ok()}
	var rates []results.LoadPoint
	if p.Spec.Measure == study.MeasureCurve && len(p.Shown()) > 0 && !p.Published() {
		rates = p.LoadPoints()
	}
	if len(rates) == 0 || rates[0].RowTitle == p.Load() { // and not of a rate, or of a search
		return []load{whole}
	}
	var loads []load
	for i, rate := range withoutRemeasured(rates, whole.ending.Outcome) {
		l := whole.atRate(p, rate)
		if ok, all := len(l.records), recordsAt(rates, rate.Name); l.ending.Outcome == Passed && 2*ok < all {
			l.ending.Outcome = Undecided
			l.ending.Text = fmt.Sprintf("ok %d of %d: fewer than half of the repetitions ended ok", ok, all)
		}
		if i > 0 {
			l.ending.Seconds = 0 // the first rate has the time of the whole point
		}
		loads = append(loads, l)
	}
	return loads
}

// recordsAt returns the number of repetitions that were offered the named rate, however they ended.
func recordsAt(rates []results.LoadPoint, name string) int {
	n := 0
	for _, l := range rates {
		if l.Name == name {
			n += len(l.Records)
		}
	}
	return n
}

// atRate returns the load of a curve at one of its rates.
func (l load) atRate(p results.Point, rate results.LoadPoint) load {
	l.ending.Point = strings.Join([]string{p.Name, p.Title(), "curve", rate.Name}, ", ")
	l.records = rate.Records
	if !rate.Used() {
		l.records = nil
		l.ending.Outcome, l.ending.Unusable = Failed, true
		l.ending.Text = fmt.Sprintf("%s: %s", rate.Status, firstLine(rate.Why.Text))
	}
	return l
}

// withoutRemeasured leaves out the rates that were void or aborted in some repetitions if they ended ok in others.
// A rate that failed in some repetitions stays: a broken promise is not made good by another repetition. Where the
// point failed, all of its rates do, and one verdict on each is enough.
func withoutRemeasured(rates []results.LoadPoint, ofPoint Outcome) []results.LoadPoint {
	return slices.DeleteFunc(slices.Clone(rates), func(l results.LoadPoint) bool {
		showsNothing := l.Status == store.Void || l.Status == store.Aborted || !l.Used() && ofPoint == Failed
		endedOk := func(o results.LoadPoint) bool { return o.Name == l.Name && o.Used() }
		return showsNothing && slices.ContainsFunc(rates, endedOk)
	})
}

// endingVerdict judges a point by how its repetitions ended.
func endingVerdict(p results.Point) Verdict {
	v := Verdict{Point: strings.Join([]string{p.Name, p.Title(), p.Load()}, ", ")}
	v.Outcome, v.Text = judgeEnding(p)
	v.Unusable = v.Outcome == Failed
	for _, r := range p.Records {
		v.Study = r.Study
		v.Seconds += r.Took().Seconds()
	}
	return v
}

// JudgesFigures reports whether a load of a point is judged by its figures: the load's records, which are of one status,
// ended ok, and no repetition of the point failed.
func JudgesFigures(p results.Point, records []store.Record) bool {
	outcome, _ := judgeEnding(p)
	return outcome == Passed && len(records) > 0 && records[0].Status == store.OK
}

// judgeEnding returns Passed if a point can be judged by its figures, and otherwise why it can't.
func judgeEnding(p results.Point) (Outcome, string) {
	reasons := map[store.Status]string{} // of the first repetition with each status
	for _, r := range p.Records {
		if _, known := reasons[r.Status]; !known {
			reasons[r.Status] = firstLine(r.Reason)
		}
	}
	switch {
	case p.Published():
		return Skipped, "published figures, not measured here: no gate judges them"
	case p.All(store.Refused):
		return Skipped, "refused: " + reasons[store.Refused]
	}
	_, anyFailed := reasons[store.Failed]
	_, anyOk := reasons[store.OK]
	switch {
	case anyOk && !anyFailed && 2*len(p.Ok()) < len(p.Records):
		return Undecided, p.Status() + ": fewer than half of the repetitions ended ok"
	case anyOk && !anyFailed:
		return Passed, p.Status()
	}
	for _, status := range []store.Status{store.Failed, store.Void, store.Aborted} { // the first that occurs is the cause
		if reason, occurs := reasons[status]; occurs {
			return Failed, fmt.Sprintf("%s: %s", p.Status(), reason)
		}
	}
	return Failed, p.Status()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
