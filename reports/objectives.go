// Objectives are thresholds that a spec asks for itself, such as "e2e_p99: < 20ms". Package gate judges every load by them; here the
// verdicts are counted and worded: "Missed by 2 of 6 loads. kafka, 100 B, at-least-once, rate 10k/s: 31.2 ms (n=3). ..."

package reports

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
)

// maxLoadsNamed is how many loads a verdict on an objective names.
const maxLoadsNamed = 5

// objectiveTally counts the loads that an objective was applied to.
type objectiveTally struct {
	condition        string
	kept, unmeasured int
	missed           []string // with the figures
	undecided        []string // with the figures; the limit is within the error of the agents' clocks
}

// objectives gives a verdict on each objective: how many loads kept it, and which missed it.
func objectives(set *results.Set) []document.Verdict {
	var tallies []objectiveTally
	for _, v := range gate.JudgeObjectives(set) {
		same := func(t objectiveTally) bool { return t.condition == v.Condition }
		findOrAdd(&tallies, same, objectiveTally{condition: v.Condition}).add(v)
	}
	var verdicts []document.Verdict
	for _, t := range tallies {
		verdicts = append(verdicts, t.verdict())
	}
	return verdicts
}

// add counts the verdict on a load. A verdict on all points says that the objective could be judged nowhere, which the counts say as well.
func (t *objectiveTally) add(v gate.Verdict) {
	if v.Point == gate.AllPoints {
		return
	}
	text := fmt.Sprintf("%s: %s", v.Point, v.Text)
	switch v.Outcome {
	case gate.Passed:
		t.kept++
	case gate.Skipped:
		t.unmeasured++
	case gate.Undecided:
		t.undecided = append(t.undecided, text)
	default:
		t.missed = append(t.missed, text)
	}
}

func (t objectiveTally) verdict() document.Verdict {
	v := document.Verdict{About: "Objective " + t.condition}
	judged := t.kept + len(t.missed) + len(t.undecided)
	var details []string
	switch {
	case judged == 0:
		v.Finding = "Nothing was measured that could be judged by it."
		return v
	case len(t.missed) > 0:
		v.Finding = fmt.Sprintf("Missed by %d of %s. %s.", len(t.missed), plural(judged, "load"), firstLoads(t.missed))
		if more := len(t.missed) - maxLoadsNamed; more > 0 {
			details = append(details, fmt.Sprintf("The same holds for %d more.", more))
		}
		if n := len(t.undecided); n > 0 {
			details = append(details, fmt.Sprintf("For %d more the clocks of the agents don't tell.", n))
		}
	case len(t.undecided) > 0:
		v.Finding = fmt.Sprintf("Undecided for %d of %s. %s.", len(t.undecided), plural(judged, "load"), firstLoads(t.undecided))
	case judged == 1:
		v.Finding = "Kept by the only load."
	default:
		v.Finding = fmt.Sprintf("Kept by all %d loads.", judged)
	}
	if t.unmeasured > 0 {
		details = append(details, plural(t.unmeasured, "load")+" can't be judged by it.")
	}
	v.Detail = strings.Join(details, " ")
	return v
}

// firstLoads joins the first few loads with their figures.
func firstLoads(loads []string) string {
	return strings.Join(loads[:min(maxLoadsNamed, len(loads))], ". ")
}

// missesObjective tells whether a load of a point missed an objective of its spec. Objectives of a newer version, which can't be read
// here, are not judged.
func missesObjective(p results.Point, records []results.Record) bool {
	if len(p.Records) == 0 || len(records) == 0 {
		return false
	}
	conditions, err := gate.Objectives(p.Records[len(p.Records)-1].Spec)
	if err != nil {
		return false
	}
	for _, c := range conditions {
		if c.Missed(records) {
			return true
		}
	}
	return false
}

// missedTargets names the targets that a load of a point missed: its rate, an objective.
func missedTargets(p results.Point, records []results.Record) []string {
	var missed []string
	if results.RateMissed(records) {
		missed = append(missed, "rate missed")
	}
	if missesObjective(p, records) {
		missed = append(missed, "objective missed")
	}
	return missed
}

// statusWords is a status, followed by the targets that the load missed: "ok, rate missed".
func statusWords(status string, p results.Point, records []results.Record) string {
	return strings.Join(append([]string{status}, missedTargets(p, records)...), ", ")
}
