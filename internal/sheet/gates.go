package sheet

import "github.com/brokermark/brokermark/internal/gate"

// gates writes the verdicts of thresholds and objectives, if there are any.
func (b *book) gates(judged []gate.Verdict) {
	if len(judged) == 0 {
		return
	}
	t := table{header: []string{"point", "threshold", "outcome", "seen", "study"}, widths: []float64{40, 24, 10, 60, 18}, frozen: 1}
	b.fill(b.sheet("Gates"), t, func(row func(...any)) {
		for _, v := range judged {
			row(v.Point, v.Condition, string(v.Outcome), v.Text, v.Study)
		}
	})
}
