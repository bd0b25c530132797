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
	finding, detail := tallyOf(onLoads).words()
	return document.Verdict{About: "Objective " + objective, Finding: finding, Detail: detail}
}

// tally is how loads fared under one objective.
type tally struct {
	kept      int
	missed    []string // loads with their figures: "kafka, 100 B, at-least-once, rate 10k/s: 31.2 ms (n=3)"
	undecided []string // likewise; the limit is within the error of the agents' clocks
	skipped   int      // loads that can't be judged
}

func tallyOf(onLoads []gate.Verdict) tally {
	var t tally
	for _, on := range onLoads {
		if on.Point == gate.AllPoints {
			continue // it says that no load could be judged, as the counts show
		}
		text := fmt.Sprintf("%s: %s", on.Point, on.Text)
		switch on.Outcome {
		case gate.Passed:
			t.kept++
		case gate.Skipped:
			t.skipped++
		case gate.Undecided:
			t.undecided = append(t.undecided, text)
		default:
			t.missed = append(t.missed, text)
		}
	}
	return t
}

// words are a tally in sentences.
func (t tally) words() (finding, detail string) {
	judged := t.kept + len(t.missed) + len(t.undecided)
	var details []string
	switch {
	case judged == 0:
		return "Nothing was measured that could be judged by it.", ""
	case len(t.missed) > 0:
		first, further := results.FirstSentences(t.missed, maxLoadsNamed)
		finding = fmt.Sprintf("Missed by %d of %s. %s", len(t.missed), plural(judged, "load"), first)
		details = append(details, further)
		if n := len(t.undecided); n > 0 {
			details = append(details, fmt.Sprintf("For %d more the clocks of the agents don't tell.", n))
		}
	case len(t.undecided) > 0:
		first, further := results.FirstSentences(t.undecided, maxLoadsNamed)
		finding = fmt.Sprintf("Undecided for %d of %s. %s", len(t.undecided), plural(judged, "load"), first)
		details = append(details, further)
	case t.skipped > 0:
		finding = fmt.Sprintf("Kept by %d of %s.", t.kept, plural(judged+t.skipped, "load"))
	case t.kept == 1:
		finding = "Kept by the only load."
	default:
		finding = fmt.Sprintf("Kept by all %d loads.", t.kept)
	}
	if t.skipped > 0 {
		details = append(details, plural(t.skipped, "load")+" can't be judged by it.")
	}
	return finding, joinNonEmpty(" ", details...)
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
