// Objectives are thresholds that a spec asks for itself, such as "e2e_p99: < 20ms". Package gate judges
// every load by them. Here its verdicts are counted and put into sentences:
//
//	Missed by 2 of 6 loads. kafka, 100 B, at-least-once, rate 10k/s: 31.2 ms (n=3). …

package reports

import (
	"fmt"
	"slices"

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
	kept, unjudged := 0, 0
	var missed, undecided []string // loads with their figures: "kafka, 100 B, at-least-once, rate 10k/s: 31.2 ms (n=3)"
	for _, on := range onLoads {
		text := fmt.Sprintf("%s: %s", on.Point, on.Text)
		switch {
		case on.Point == gate.AllPoints: // it says that no load could be judged, as the counts show
		case on.Outcome == gate.Passed:
			kept++
		case on.Outcome == gate.Skipped, on.Unusable:
			unjudged++
		case on.Outcome == gate.Undecided:
			undecided = append(undecided, text)
		case on.Outcome == gate.Failed:
			missed = append(missed, text)
		}
	}
	v := document.Verdict{About: "Objective " + objective}
	judged := kept + len(missed) + len(undecided)
	all := plural(judged+unjudged, "load")
	var details []string
	switch {
	case judged == 0:
		v.Finding = "Nothing was measured that could be judged by it."
		return v
	case len(missed) > 0:
		first, further := results.FirstSentences(missed, maxLoadsNamed)
		v.Finding = fmt.Sprintf("Missed by %d of %s. %s", len(missed), all, first)
		details = append(details, further)
		if n := len(undecided); n > 0 {
			details = append(details, fmt.Sprintf("For %d more the clocks of the agents don't tell.", n))
		}
	case len(undecided) > 0: // the limit is within the error of the agents' clocks
		first, further := results.FirstSentences(undecided, maxLoadsNamed)
		v.Finding = fmt.Sprintf("Undecided for %d of %s. %s", len(undecided), all, first)
		details = append(details, further)
	case unjudged > 0:
		v.Finding = fmt.Sprintf("Kept by %d of %s.", kept, all)
	case kept == 1:
		v.Finding = "Kept by the only load."
	default:
		v.Finding = fmt.Sprintf("Kept by all %d loads.", kept)
	}
	if unjudged > 0 {
		details = append(details, plural(unjudged, "load")+" can't be judged by it.")
	}
	v.Detail = joinNonEmpty(" ", details...)
	return v
}

// missesObjective tells whether a load of a point missed an objective of its spec. records are those of
// the load. Objectives that can't be read here, because a newer version wrote them, are not judged.
func missesObjective(p results.Point, records []results.Record) bool {
	if len(records) == 0 {
		return false
	}
	latest := p.Records[len(p.Records)-1]
	objectives, err := gate.Objectives(latest.Spec)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(objectives, func(c gate.Condition) bool { return c.Missed(records) })
}
