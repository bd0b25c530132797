package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// beyond is the operator that a metric fulfils if it misses an objective.
var beyond = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// ParseObjective reads an objective of a spec: a metric and "< 20ms", "> 99%" or a plain value, the worst that is allowed. It
// becomes the threshold beyond which it is missed.
func ParseObjective(metric string, bound any) (Condition, error) {
	m, err := results.MetricNamed(metric)
	if err != nil {
		return Condition{}, err
	}
	text := strings.TrimSpace(fmt.Sprint(bound))
	operator := ""
	for _, o := range operators {
		if operator == "" && strings.HasPrefix(text, o) {
			operator = o
		}
	}
	value := strings.TrimSpace(strings.TrimPrefix(text, operator))
	if operator == "" && !strings.HasPrefix(value, "=") {
		if operator = "<="; m.Better == results.Higher {
			operator = ">="
		}
	}
	if beyond[operator] == "" || value == "" || strings.HasPrefix(value, "=") {
		return Condition{}, fmt.Errorf("%q is no objective; allowed: < <= > >= and a value, such as '< 20ms', or the worst value alone", text)
	}
	c, err := Parse(metric + " " + beyond[operator] + " " + value)
	c.Text = strings.Join([]string{metric, operator, value}, " ")
	return c, err
}

// Objectives are those of a spec, by metric. An error is about one setting, which its SettingPath names.
func Objectives(s study.Spec) ([]Condition, error) {
	var list []Condition
	for _, metric := range slices.Sorted(maps.Keys(s.Objectives)) {
		c, err := ParseObjective(metric, s.Objectives[metric])
		if err != nil {
			return nil, &badObjective{"objectives." + metric, err}
		}
		list = append(list, c)
	}
	return list, nil
}

type badObjective struct {
	path string
	err  error
}

func (e *badObjective) Error() string       { return e.path + ": " + e.err.Error() }
func (e *badObjective) Unwrap() error       { return e.err }
func (e *badObjective) SettingPath() string { return e.path }

// JudgeObjectives judges every point, and every rate of a curve, by the objectives of its own spec, in the way of Judge: one
// that no point could be judged by fails. What a record holds that this version can't understand is no objective.
func JudgeObjectives(set *results.Set) []Verdict {
	var verdicts []Verdict
	judged := map[string]bool{}
	all := loads(set)
	for i, l := range all {
		objectives, err := Objectives(l.spec)
		if err != nil {
			continue
		}
		for _, c := range objectives {
			v := l.ended
			v.Condition = c.Text
			if v.Outcome == Passed {
				v.Outcome, v.Text = c.judge(l.records)
				if v.Outcome == Skipped && c.knownOf(all, i) {
					continue
				}
			}
			judged[v.Condition] = judged[v.Condition] || v.Outcome != Skipped
			verdicts = append(verdicts, v)
		}
	}
	for _, condition := range slices.Sorted(maps.Keys(judged)) {
		if !judged[condition] {
			verdicts = append(verdicts, unjudged(condition))
		}
	}
	return verdicts
}

// Bound is the limit of an objective, with the metric that it bounds. ok is false for a share, which is another limit at every
// load.
func (c Condition) Bound() (results.Metric, float64, bool) { return c.metric, c.limit, c.share == nil }

// Missed tells that records which ended ok are beyond the limit.
func (c Condition) Missed(records []results.Record) bool {
	outcome, _ := c.judge(records)
	return outcome == Failed
}
