package gate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// opposites gives for each operator of an objective the one that holds for values that miss it.
var opposites = map[operator]operator{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// worstAllowed are the operators of plain values. What is better in neither direction has no worst value.
var worstAllowed = map[results.Better]operator{results.Lower: "<=", results.Higher: ">="}

// ParseObjective reads an objective of a spec, which says what has to hold: a metric and "< 20ms", "> 99%", or a plain
// value, the worst that is allowed. A condition says what fails, so "e2e_p99: < 20ms" becomes the condition e2e_p99 >=
// 20ms, with the objective as its text.
func ParseObjective(metric string, bound any) (Condition, error) {
	m, err := results.MetricNamed(metric)
	if err != nil {
		return Condition{}, err
	}
	text := strings.TrimSpace(fmt.Sprint(bound))
	wanted, limit := worstAllowed[m.Better], text
	for _, op := range []operator{"<=", ">=", "<", ">"} {
		if rest, ok := strings.CutPrefix(text, string(op)); ok {
			wanted, limit = op, strings.TrimSpace(rest)
			break
		}
	}
	if limit == "" || strings.HasPrefix(limit, "=") || strings.HasPrefix(limit, "!=") {
		return Condition{}, fmt.Errorf("%q is no objective; allowed: < <= > >= and a value, such as '< 20ms', "+
			"or the worst value alone", text)
	}
	if wanted == "" {
		if _, err := (threshold{metric: m, operator: "<", limit: limit}).condition(); err != nil {
			return Condition{}, err
		}
		return Condition{}, fmt.Errorf("%q is no objective of %s: neither more nor less of it is better; allowed: < <= > >= and a value, "+
			"such as %q", text, metric, ">= "+text)
	}
	objective := strings.Join([]string{metric, string(wanted), limit}, " ")
	return threshold{text: objective, metric: m, operator: opposites[wanted], limit: limit}.condition()
}

// Objectives returns the objectives of a spec, sorted by metric. Where some can't be read, it returns the others, and an error about
// the setting of the first one, which the error's method SettingPath names.
func Objectives(s study.Spec) ([]Condition, error) {
	objectives, unreadable := objectivesOf(s)
	if len(unreadable) > 0 {
		return objectives, unreadable[0]
	}
	return objectives, nil
}

// Unmeasured returns an error about the first objective that none of the points that have it measures, as the objectives of a
// run would fail by it afterwards, and one of these points. There is none if each objective has a point that may measure it.
func Unmeasured(points []study.Point) (study.Point, error) {
	type lacking struct {
		point study.Point
		err   *badObjective
	}
	without, measured := map[string]lacking{}, map[string]bool{} // by the text of the condition
	for _, p := range points {
		objectives, _ := objectivesOf(p.Spec)
		for _, c := range objectives {
			name, _, _ := strings.Cut(c.Text, " ")
			why := c.notMeasured(p.Spec)
			if _, known := without[c.Text]; why != "" && !known {
				without[c.Text] = lacking{p, &badObjective{metric: name, bound: p.Spec.Objectives[name], err: errors.New(why)}}
			}
			measured[c.Text] = measured[c.Text] || why == ""
		}
	}
	for _, text := range slices.Sorted(maps.Keys(without)) {
		if !measured[text] {
			return without[text].point, without[text].err
		}
	}
	return study.Point{}, nil
}

// Unanswerable returns an error about the first condition that no point has a figure for, as Judge would fail by it afterwards.
func Unanswerable(points []study.Point, conditions []Condition) error {
	for _, c := range conditions {
		answers := func(p study.Point) bool { return c.notMeasured(p.Spec) == "" }
		if len(points) > 0 && !slices.ContainsFunc(points, answers) {
			return fmt.Errorf("%s: %s", c.Text, c.notMeasured(points[0].Spec))
		}
	}
	return nil
}

// notMeasured returns why no record of a spec has a figure for the condition; empty if one may have.
func (c Condition) notMeasured(s study.Spec) string {
	if offered := c.total == offeredRate || c.total == expectedReceiveRate; offered && s.ClosedLoop() {
		return fmt.Sprintf("measure: %s offers no rate that it could be a share of", s.Measure)
	}
	return c.metric.NotMeasured(s)
}

// objectivesOf returns the objectives of a spec that can be read, and those that can't, both sorted by metric.
func objectivesOf(s study.Spec) (objectives []Condition, unreadable []*badObjective) {
	for _, metric := range slices.Sorted(maps.Keys(s.Objectives)) {
		bound := s.Objectives[metric]
		c, err := ParseObjective(metric, bound)
		if err != nil {
			unreadable = append(unreadable, &badObjective{metric: metric, bound: bound, err: err})
			continue
		}
		objectives = append(objectives, c)
	}
	return objectives, unreadable
}

// badObjective is an objective of a spec that can't be read.
type badObjective struct {
	metric string
	bound  any
	err    error
}

func (e *badObjective) Error() string       { return e.SettingPath() + ": " + e.err.Error() }
func (e *badObjective) Unwrap() error       { return e.err }
func (e *badObjective) SettingPath() string { return "objectives." + e.metric }

// judgeLoad makes the verdict on a load that was to be judged by the objective: that it is not known whether it is kept.
func (e *badObjective) judgeLoad(l load) Verdict {
	v := l.ending
	v.Condition = strings.TrimSpace(e.metric + " " + fmt.Sprint(e.bound))
	if v.Outcome == Passed {
		var why string
		if unknown, ok := errors.AsType[*results.ErrUnknownMetric](e.err); ok {
			why = fmt.Sprintf("unknown metric %q", unknown.Name) // to look for the closest takes long, and is of no use
		} else {
			why = e.err.Error()
		}
		v.Outcome, v.Unusable, v.Text = Failed, true, "this version can't read the objective: "+why
	}
	return v
}

// JudgeObjectives judges every point, a curve rate by rate, by the objectives of its own spec, which is that of its
// latest record, as Judge does by conditions that are given. A load fails as unusable by an objective that this version
// can't read; a newer version wrote it, since a spec is checked before it is run.
func JudgeObjectives(set *results.Set) []Verdict {
	byCondition := map[string][]Verdict{}
	var verdicts []Verdict
	for _, p := range set.Points {
		objectives, unreadable := objectivesOf(p.Records[len(p.Records)-1].Spec)
		if len(objectives)+len(unreadable) == 0 {
			continue
		}
		loads := loadsOf(p)
		for _, l := range loads {
			for _, c := range objectives {
				ofLoad := c.judgeLoad(l, loads)
				byCondition[c.Text] = append(byCondition[c.Text], ofLoad...)
				verdicts = append(verdicts, ofLoad...)
			}
			verdicts = append(verdicts, lists.Map(unreadable, func(o *badObjective) Verdict { return o.judgeLoad(l) })...)
		}
	}
	for _, condition := range slices.Sorted(maps.Keys(byCondition)) {
		verdicts = append(verdicts, unjudged(condition, byCondition[condition], "no point has a value to judge")...)
	}
	return verdicts
}

// Bound returns the metric that an objective bounds, and the limit in the metric's unit. ok is false for a share:
// its limit differs from load to load.
func (c Condition) Bound() (m results.Metric, limit float64, ok bool) {
	return c.metric, c.limit, c.limitOn == onValue
}

// Missed reports whether records that ended ok miss the objective.
func (c Condition) Missed(records []results.Record) bool {
	outcome, _ := c.judgeRecords(records)
	return outcome == Failed
}
