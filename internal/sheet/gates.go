package sheet

import (
	"slices"

	"github.com/brokermark/brokermark/internal/gate"
)

// gates writes the verdicts of thresholds and objectives, if there are any.
func (b *book) gates(judged []gate.Verdict) {
	if len(judged) == 0 {
		return
	}
	var rows [][]any
	for _, v := range judged {
		rows = append(rows, []any{v.Point, v.Condition, string(v.Outcome), v.Text, v.Study})
	}
	b.table(b.sheet("Gates"), []heading{
		{name: "point", width: 40},
		{name: "threshold", width: 24},
		{name: "outcome", width: 10},
		{name: "seen", width: 60},
		{name: "study", width: 18},
	}, 1, slices.Values(rows))
}
