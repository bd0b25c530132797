// Objectives are thresholds that a spec asks for itself, such as "e2e_p99: < 20ms". Package gate judges
// every load by them. Here its verdicts are counted and put into sentences:
//
//	Missed by 2 of 6 loads. kafka, 100 B, at-least-once, rate 10k/s: 31.2 ms (n=3). …

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
)

// maxLoadsNamed is how many loads a verdict on an objective names.
const maxLoadsNamed = 5

// objectiveVerdicts gives a verdict on each objective: how many loads kept it, and which missed it.
func objectiveVerdicts(set *results.Set) []document.Verdict {
	var verdicts []document.Verdict
	for _, g := range results.GroupBy(gate.JudgeObjectives(set), func(v gate.Verdict) string { return v.Condition }) {
		verdicts = append(verdicts, objectiveVerdict(g.Name, g.Members))
	}
	return verdicts
}

// objectiveVerdict sums up the verdicts on all loads that an objective was applied to.
func objectiveVerdict(objective string, onLoads []gate.Verdict) document.Verdict {
	v := document.Verdict{About: "Objective " + objective}
	kept, unmeasured := 0, 0
	var missed, undecided []string // loads with their figures
	for _, on := range onLoads {
		text := fmt.Sprintf("%s: %s", on.Point, on.Text)
		switch {
		case on.Point == gate.AllPoints: // says that no load could be judged, as the counts say below
		case on.Outcome == gate.Passed:
			kept++
		case on.Outcome == gate.Skipped:
			unmeasured++
		case on.Outcome == gate.Undecided: // the limit is within the error of the agents' clocks
			undecided = append(undecided, text)
		default:
			missed = append(missed, text)
		}
	}
	judged := kept + len(missed) + len(undecided)
	var details []string
	switch {
	case judged == 0:
		v.Finding = "Nothing was measured that could be judged by it."
		return v
	case len(missed) > 0:
		v.Finding = fmt.Sprintf("Missed by %d of %s. %s.", len(missed), plural(judged, "load"), firstLoads(missed))
		details = append(details, furtherLoads(missed))
		if n := len(undecided); n > 0 {
			details = append(details, fmt.Sprintf("For %d more the clocks of the agents don't tell.", n))
		}
	case len(undecided) > 0:
		v.Finding = fmt.Sprintf("Undecided for %d of %s. %s.", len(undecided), plural(judged, "load"), firstLoads(undecided))
		details = append(details, furtherLoads(undecided))
	case judged == 1 && unmeasured == 0:
		v.Finding = "Kept by the only load."
	case unmeasured == 0:
		v.Finding = fmt.Sprintf("Kept by all %d loads.", judged)
	default:
		v.Finding = fmt.Sprintf("Kept by %d of %s.", judged, plural(judged+unmeasured, "load"))
	}
	if unmeasured > 0 {
		details = append(details, plural(unmeasured, "load")+" can't be judged by it.")
	}
	v.Detail = joinNonEmpty(" ", details...)
	return v
}

// firstLoads joins the first few loads with their figures.
func firstLoads(loads []string) string {
	return strings.Join(loads[:min(maxLoadsNamed, len(loads))], ". ")
}

// furtherLoads counts the loads that firstLoads leaves out. It is empty if there are none.
func furtherLoads(loads []string) string {
	if len(loads) <= maxLoadsNamed {
		return ""
	}
	return fmt.Sprintf("The same holds for %d more.", len(loads)-maxLoadsNamed)
}

// missesObjective tells whether a load of a point missed an objective of its spec. Objectives that
// can't be read here, because a newer version wrote them, are not judged.
func missesObjective(p results.Point, records []results.Record) bool {
	if len(records) == 0 {
		return false
	}
	conditions, err := gate.Objectives(p.Records[len(p.Records)-1].Spec)
	missed := func(c gate.Condition) bool { return c.Missed(records) }
	return err == nil && slices.ContainsFunc(conditions, missed)
}
