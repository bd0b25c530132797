// The contenders of an advice as a drawing: the latency of each at each rate beside the others, and the bound as a line.

package reports

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// contenderDrawing shows the contenders that have a latency, at the rates at which they have one, in the order in which charts give names
// their colours. isMeasured is false without any latency, and for a study that no command can name.
func contenderDrawing(a advise.Advice) (d document.Drawing, isMeasured bool) {
	p99, rates := results.MustMetric(results.KeyEndToEndP99), a.Case.Spec.Curve.Rates
	d = document.Drawing{
		Name:  "latency-throughput --where measure=curve,study=" + a.Case.Study, // the same figures, over what came through
		Title: "Latency of the contenders",
		Notes: []string{fmt.Sprintf("Each mark is the %s of a contender at a rate, the median of its repetitions with its interval; "+
			"the dotted line is the bound, %s.", p99.Name, unit.Nanoseconds.Format(a.Case.Bound))},
	}
	panel := document.DrawingPanel{
		Across: document.DrawingAxis{Name: "rate (messages/s)"},
		Up:     document.DrawingAxis{Name: p99.Name, Unit: p99.Unit, Bound: a.Case.Bound},
	}
	panel.Across.Values = lists.Map(rates, results.RateText)
	contenders := slices.Clone(a.Contenders)
	slices.SortFunc(contenders, func(x, y *advise.Judged) int { return results.CompareNames(x.Name, y.Name) })
	for _, j := range contenders {
		before := len(panel.Marks)
		for i := range rates {
			if y := p99.Over(j.Loads[i]).Cell(); y.IsNumber() {
				panel.Marks = append(panel.Marks, document.DrawingMark{Line: len(d.Lines), X: float64(i), Y: y})
			}
		}
		if len(panel.Marks) > before {
			d.Lines = append(d.Lines, j.Name)
		}
	}
	d.Panels = []document.DrawingPanel{panel}
	return d, len(panel.Marks) > 0 && oneWord.MatchString(a.Case.Study)
}
