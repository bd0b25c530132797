package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// missedBy is the operator that holds for values that miss an objective with the given operator.
var missedBy = map[operator]operator{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// ParseObjective reads an objective of a spec: a metric and "< 20ms", "> 99%" or a plain value, the worst that is allowed. The condition
// is the threshold beyond which the objective is missed.
func ParseObjective(metric string, bound any) (Condition, error) {
	m, err := results.MetricNamed(metric)
	if err != nil {
		return Condition{}, err
	}
	text := strings.TrimSpace(fmt.Sprint(bound))
	allowed, value := splitOperator(text)
	if allowed == "" {
		if allowed = "<="; m.Better == results.Higher {
			allowed = ">="
		}
	}
	if missedBy[allowed] == "" || value == "" || strings.HasPrefix(value, "=") {
		return Condition{}, fmt.Errorf("%q is no objective; allowed: < <= > >= and a value, such as '< 20ms', or the worst value alone", text)
	}
	c, err := Parse(metric + " " + string(missedBy[allowed]) + " " + value)
	c.Text = strings.Join([]string{metric, string(allowed), value}, " ")
	return c, err
}

// splitOperator cuts the operator off a text. It is empty if the text begins with none.
func splitOperator(text string) (o operator, rest string) {
	for _, o := range operators {
		if rest, ok := strings.CutPrefix(text, string(o)); ok {
			return o, strings.TrimSpace(rest)
		}
	}
	return "", text
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

// badObjective is an error about one objective of a spec.
type badObjective struct {
	path string
	err  error
}

func (e *badObjective) Error() string       { return e.path + ": " + e.err.Error() }
func (e *badObjective) Unwrap() error       { return e.err }
func (e *badObjective) SettingPath() string { return e.path }

// JudgeObjectives judges every point, and every rate of a curve, by the objectives of its own spec, in the way of Judge: one
// that no point could be judged by fails. Objectives that this version can't read, of a record of a newer one, are left out.
func JudgeObjectives(set *results.Set) []Verdict {
	var verdicts []Verdict
	judged := map[string]bool{} // by condition
	all := loads(set)
	for _, l := range all {
		objectives, err := Objectives(l.spec)
		if err != nil {
			continue
		}
		for _, c := range objectives {
			if v, ok := c.judgeLoad(l, all); ok {
				judged[c.Text] = judged[c.Text] || v.Outcome != Skipped
				verdicts = append(verdicts, v)
			}
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
