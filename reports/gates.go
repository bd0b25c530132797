package reports

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
)

// Gates is a section on the thresholds that a command was given: how each load fared under them,
// failures first. It is empty without verdicts.
func Gates(verdicts []gate.Verdict) []document.Block {
	if len(verdicts) == 0 {
		return nil
	}
	title := "Gates: passed"
	if gate.Failures(verdicts) > 0 {
		title = "Gates: failed"
	}
	order := []gate.Outcome{gate.Failed, gate.Undecided, gate.Skipped, gate.Passed}
	sorted := slices.SortedStableFunc(slices.Values(verdicts), func(a, b gate.Verdict) int {
		return cmp.Compare(slices.Index(order, a.Outcome), slices.Index(order, b.Outcome))
	})
	return []document.Block{document.Heading{Level: 1, Text: title}, tableOf("", gateColumns, sorted)}
}

var gateColumns = []columnOf[gate.Verdict]{
	textColumn(document.Column{Key: "outcome", Name: "outcome"}, func(v gate.Verdict) string { return string(v.Outcome) }),
	textColumn(document.Column{Key: "threshold", Name: "threshold"}, func(v gate.Verdict) string { return v.Condition }),
	textColumn(document.Column{Key: "label", Name: "point", Identifies: true}, func(v gate.Verdict) string { return v.Point }),
	textColumn(document.Column{Key: "seen", Name: "seen", Wide: true}, func(v gate.Verdict) string { return v.Text }),
}
