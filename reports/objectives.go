package reports

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
)

// mostMissed is how many loads that miss an objective are named.
const mostMissed = 5

// objectives says of each objective which loads keep it; nothing where none was set.
func objectives(set *results.Set) []document.Verdict {
	type tally struct {
		kept, unknown int
		missed        []string
	}
	var order []string
	by := map[string]*tally{}
	for _, v := range gate.JudgeObjectives(set) {
		f := by[v.Condition]
		if f == nil {
			f = &tally{}
			by[v.Condition] = f
			order = append(order, v.Condition)
		}
		switch v.Outcome {
		case gate.Passed:
			f.kept++
		case gate.Skipped:
			f.unknown++
		default:
			f.missed = append(f.missed, fmt.Sprintf("%s: %s", v.Point, v.Text))
		}
	}
	var verdicts []document.Verdict
	for _, condition := range order {
		f := by[condition]
		n := f.kept + len(f.missed)
		v := document.Verdict{About: "Objective " + condition}
		switch {
		case n == 0:
			v.Finding = "Nothing was measured that could be judged by it."
		case len(f.missed) == 0:
			v.Finding = fmt.Sprintf("Kept by %s.", allOf(n, "load"))
		default:
			v.Finding = fmt.Sprintf("Missed by %d of %s. %s.", len(f.missed), plural(n, "load"), strings.Join(f.missed[:min(mostMissed, len(f.missed))], ". "))
			if more := len(f.missed) - mostMissed; more > 0 {
				v.Detail = fmt.Sprintf("The same holds for %d more.", more)
			}
		}
		if f.unknown > 0 && n > 0 {
			v.Detail = strings.TrimSpace(fmt.Sprintf("%s %s can't be judged by it.", v.Detail, plural(f.unknown, "load")))
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

func allOf(n int, thing string) string {
	if n == 1 {
		return "the only " + thing
	}
	return fmt.Sprintf("all %d %ss", n, thing)
}

// misses tells of a load whether it misses an objective of its point.
func misses(p results.Point, records []results.Record) bool {
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

// missedBy names what a load of a point missed: its rate, an objective.
func missedBy(p results.Point, records []results.Record) []string {
	var missed []string
	if results.RateMissed(records) {
		missed = append(missed, "rate missed")
	}
	if misses(p, records) {
		missed = append(missed, "objective missed")
	}
	return missed
}

// fared is a status in words, with what the load missed.
func fared(status string, p results.Point, records []results.Record) string {
	return strings.Join(append([]string{status}, missedBy(p, records)...), ", ")
}
