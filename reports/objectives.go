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
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// maxLoadsNamed is how many loads a verdict on an objective names.
const maxLoadsNamed = 5

// objectiveVerdicts gives a verdict on each objective: how many loads kept it, and which missed it.
func objectiveVerdicts(set *results.Set) []document.Verdict {
	byCondition := results.GroupBy(gate.JudgeObjectives(set), func(v gate.Verdict) string { return v.Condition })
	return lists.Map(byCondition, func(g results.Group[gate.Verdict]) document.Verdict { return objectiveVerdict(g.Name, g.Members) })
}

// judgedLoads are the loads that an objective was applied to, by what was found. Loads that are named have their figures:
// "kafka, 100 B, at-least-once, rate 10k/s: 31.2 ms (n=3)".
type judgedLoads struct {
	kept, unjudged    int
	missed, undecided []string // undecided: the limit is within the error of the agents' clocks
	unusable          []string // those of the unjudged of which something went wrong, with what it was
	inPart            []string // those of the kept of which single repetitions are beyond the limit
}

func judgedLoadsOf(verdicts []gate.Verdict) judgedLoads {
	var loads judgedLoads
	for _, v := range verdicts {
		text := fmt.Sprintf("%s: %s", v.Point, v.Text)
		switch {
		case v.Point == gate.AllPoints: // it says that no load could be judged, as the counts show
		case v.Outcome == gate.Passed:
			loads.kept++
			if v.Beyond > 0 {
				loads.inPart = append(loads.inPart, fmt.Sprintf("%s, in %s", text, unit.Counted(v.Beyond, "repetition")))
			}
		case v.Unusable:
			loads.unusable = append(loads.unusable, text)
			loads.unjudged++
		case v.Outcome == gate.Skipped:
			loads.unjudged++
		case v.Outcome == gate.Undecided:
			loads.undecided = append(loads.undecided, text)
		case v.Outcome == gate.Failed:
			loads.missed = append(loads.missed, text)
		}
	}
	return loads
}

// objectiveVerdict sums up the verdicts on all loads that an objective was applied to.
func objectiveVerdict(objective string, verdicts []gate.Verdict) document.Verdict {
	loads := judgedLoadsOf(verdicts)
	judged := loads.kept + len(loads.missed) + len(loads.undecided)
	all := unit.Counted(judged+loads.unjudged, "load")
	v := document.Verdict{About: "Objective " + objective}
	var details []string
	switch {
	case judged == 0:
		v.Finding = "Nothing was measured that could be judged by it."
		if len(loads.unusable) > 0 {
			first, further := results.FirstSentences(loads.unusable, maxLoadsNamed)
			v.Detail = lists.Join(" ", first, further)
		}
		return v
	case len(loads.missed) > 0:
		first, further := results.FirstSentences(loads.missed, maxLoadsNamed)
		v.Finding = fmt.Sprintf("Missed by %d of %s. %s", len(loads.missed), all, first)
		if all == "1 load" {
			v.Finding = "Not met. " + first
		}
		details = append(details, further)
		if n := len(loads.undecided); n > 0 {
			details = append(details, fmt.Sprintf("For %d more the agents' clocks are too inexact.", n))
		}
	case len(loads.undecided) > 0:
		first, further := results.FirstSentences(loads.undecided, maxLoadsNamed)
		v.Finding = fmt.Sprintf("Undecided for %d of %s. %s", len(loads.undecided), all, first)
		details = append(details, further)
	case loads.unjudged > 0:
		v.Finding = fmt.Sprintf("Kept by %d of %s.", loads.kept, all)
	case loads.kept == 1:
		v.Finding = "Met."
	default:
		v.Finding = fmt.Sprintf("Kept by all %d loads.", loads.kept)
	}
	if len(loads.inPart) > 0 {
		v.Finding = strings.TrimSuffix(v.Finding, ".") + ", by the median, but not by every repetition."
		first, further := results.FirstSentences(loads.inPart, maxLoadsNamed)
		details = append(details, "Beyond it: "+first, further)
	}
	if loads.unjudged > 0 {
		details = append(details, unit.Counted(loads.unjudged, "load")+" can't be judged by it.")
	}
	v.Detail = lists.Join(" ", details...)
	return v
}

// missesObjective reports whether a load of a point missed an objective of its spec. records are those of
// the load. Of objectives that can't be read here, because a newer version wrote them, it isn't known.
func missesObjective(p results.Point, records []results.Record) bool {
	if len(records) == 0 {
		return false
	}
	latest := p.Records[len(p.Records)-1] // objectives may be changed between repetitions: the last ones count
	objectives, _ := gate.Objectives(latest.Spec)
	return slices.ContainsFunc(objectives, func(c gate.Condition) bool { return c.Missed(records) })
}
