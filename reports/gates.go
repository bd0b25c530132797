// A gate is a threshold that makes a command fail, such as "e2e p99 > 10ms". Each load is judged by it:
//
//	outcome  threshold       point                seen
//	failed   e2e p99 > 10ms  kafka, rate 20k/s    12.9 ms, 12.1 ms–13.4 ms (n=3)
//	passed   e2e p99 > 10ms  kafka, rate 1k/s     2.11 ms, 2.05 ms–2.20 ms (n=3)

package reports

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
)

// Gates is a section with a row for each verdict, failures first. It is empty without verdicts.
func Gates(verdicts []gate.Verdict) []document.Block {
	if len(verdicts) == 0 {
		return nil
	}
	title := "Gates: passed"
	if gate.Failures(verdicts) > 0 {
		title = "Gates: failed"
	}
	worstFirst := []gate.Outcome{gate.Failed, gate.Undecided, gate.Skipped, gate.Passed}
	sorted := slices.SortedStableFunc(slices.Values(verdicts), func(a, b gate.Verdict) int {
		return cmp.Compare(slices.Index(worstFirst, a.Outcome), slices.Index(worstFirst, b.Outcome))
	})
	return []document.Block{document.Heading{Level: 1, Text: title}, tableOf("", gateColumns, sorted)}
}

var gateColumns = []columnOf[gate.Verdict]{
	textColumn(document.Column{Key: "outcome", Name: "outcome"}, func(v gate.Verdict) string { return string(v.Outcome) }),
	textColumn(document.Column{Key: "threshold", Name: "threshold"}, func(v gate.Verdict) string { return v.Condition }),
	textColumn(document.Column{Key: "label", Name: "point", Identifies: true}, func(v gate.Verdict) string { return v.Point }),
	textColumn(document.Column{Key: "seen", Name: "seen", Wide: true}, func(v gate.Verdict) string { return v.Text }),
}
