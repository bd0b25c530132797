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
	t := table{header: []string{"point", "threshold", "outcome", "seen", "study"}, widths: []float64{40, 24, 10, 60, 18}, frozen: 1}
	var rows [][]any
	for _, v := range judged {
		rows = append(rows, []any{v.Point, v.Condition, string(v.Outcome), v.Text, v.Study})
	}
	b.fill(b.sheet("Gates"), t, slices.Values(rows))
}
