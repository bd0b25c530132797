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

// ParseObjective reads an objective of a spec, which says what is wanted: a metric and "< 20ms", "> 99%", or a
// plain value, the worst that is allowed. A condition says what fails, so "e2e_p99: < 20ms" becomes the condition
// e2e_p99 >= 20ms, with the objective as its text.
func ParseObjective(metric string, bound any) (Condition, error) {
	m, err := results.MetricNamed(metric)
	if err != nil {
		return Condition{}, err
	}
	text := strings.TrimSpace(fmt.Sprint(bound))
	wanted, limit := operator("<="), text
	if m.Better == results.Higher {
		wanted = ">="
	}
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
	objective := strings.Join([]string{metric, string(wanted), limit}, " ")
	return threshold{text: objective, metric: m, operator: opposites[wanted], limit: limit}.condition()
}

// Objectives returns the objectives of a spec, sorted by metric. An error is about one setting of the spec, which
// the error's method SettingPath names.
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

// JudgeObjectives judges every point, a curve rate by rate, by the objectives of its own spec, which is that of its
// latest record, as Judge does by conditions that are given. A point is left out if this version can't read its
// objectives: they are in a record of a newer version, since a spec is checked before it is run.
func JudgeObjectives(set *results.Set) []Verdict {
	byCondition := map[string][]Verdict{}
	var verdicts []Verdict
	for _, p := range set.Points {
		objectives, err := Objectives(p.Records[len(p.Records)-1].Spec)
		if err != nil {
			continue
		}
		loads := loadsOf(p)
		for _, l := range loads {
			for _, c := range objectives {
				ofLoad := c.judgeLoad(l, loads)
				byCondition[c.Text] = append(byCondition[c.Text], ofLoad...)
				verdicts = append(verdicts, ofLoad...)
			}
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
