package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
)

// Gates lists how loads fared under thresholds, those that failed first; nothing without verdicts.
func Gates(verdicts []gate.Verdict) []document.Block {
	if len(verdicts) == 0 {
		return nil
	}
	t := document.Table{Columns: []document.Column{
		{Key: "outcome", Name: "outcome"},
		{Key: "threshold", Name: "threshold"},
		{Key: "label", Name: "point", Row: true},
		{Key: "seen", Name: "seen", Wide: true},
	}}
	for _, outcome := range []gate.Outcome{gate.Failed, gate.Undecided, gate.Skipped, gate.Passed} {
		for _, v := range verdicts {
			if v.Outcome == outcome {
				t.Rows = append(t.Rows, document.Row{
					"outcome": document.Text(string(outcome)), "threshold": document.Text(v.Condition), "label": document.Text(v.Point), "seen": document.Text(v.Text),
				})
			}
		}
	}
	failed := gate.Failures(verdicts) > 0
	return []document.Block{document.Heading{Level: 1, Text: map[bool]string{true: "Gates: failed", false: "Gates: passed"}[failed]}, t}
}
