// Objectives: thresholds that a spec asks for itself.

package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// opposites gives for each operator of an objective the one that holds for values that miss it.
var opposites = map[operator]operator{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// ParseObjective reads an objective of a spec, which says what is wanted: a metric and "< 20ms", "> 99%", or a plain value, the worst that
// is allowed. A condition says what fails, so "e2e_p99: < 20ms" becomes the condition e2e_p99 >= 20ms, with the objective as its text.
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
	if opposites[allowed] == "" || value == "" || strings.HasPrefix(value, "=") {
		return Condition{}, fmt.Errorf("%q is no objective; allowed: < <= > >= and a value, such as '< 20ms', or the worst value alone", text)
	}
	c, err := Parse(metric + " " + string(opposites[allowed]) + " " + value)
	c.Text = strings.Join([]string{metric, string(allowed), value}, " ")
	return c, err
}

// splitOperator splits "< 20ms" into its operator and its value. The operator is empty if the text begins with none.
func splitOperator(text string) (operator, string) {
	for _, o := range operators {
		if value, ok := strings.CutPrefix(text, string(o)); ok {
			return o, strings.TrimSpace(value)
		}
	}
	return "", text
}

// Objectives are those of a spec, sorted by metric. An error is about one setting of the spec, which the error's method SettingPath names.
func Objectives(s study.Spec) ([]Condition, error) {
	var objectives []Condition
	for _, metric := range slices.Sorted(maps.Keys(s.Objectives)) {
		c, err := ParseObjective(metric, s.Objectives[metric])
		if err != nil {
			return nil, &badObjective{path: "objectives." + metric, err: err}
		}
		objectives = append(objectives, c)
	}
	return objectives, nil
}

// badObjective is an error about one objective of a spec.
type badObjective struct {
	path string
	err  error
}

func (e *badObjective) Error() string       { return e.path + ": " + e.err.Error() }
func (e *badObjective) Unwrap() error       { return e.err }
func (e *badObjective) SettingPath() string { return e.path }

// JudgeObjectives judges every point, a curve rate by rate, by the objectives of its own spec, as Judge does by conditions that are given.
// An objective that this version can't read, in a record of a newer version, is left out: a spec is checked before it is run.
func JudgeObjectives(set *results.Set) []Verdict {
	var verdicts []Verdict
	judged := map[string]bool{} // by condition
	all := loadsOf(set)
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

// Bound is the metric that an objective bounds, and the limit in the metric's unit. ok is false for a share, which is another limit at
// every load.
func (c Condition) Bound() (m results.Metric, limit float64, ok bool) {
	return c.metric, c.limit, c.total == nil
}

// Missed tells whether records that ended ok miss the objective.
func (c Condition) Missed(records []results.Record) bool {
	outcome, _ := c.judge(records)
	return outcome == Failed
}
