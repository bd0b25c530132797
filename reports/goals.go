package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// goalsTable has a row for every goal of every search.
func goalsTable(g group, l layout, notes *document.Footnotes) document.Table {
	t := document.Table{Title: "Goals of the searches", Columns: append(pointColumns(l), []document.Column{
		{Key: "goal", Name: "goal", Row: true},
		{Key: "latency_bound_ns", Unit: unit.Nanoseconds, Data: true},
		{Key: "quantile", Data: true},
		{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true},
		{Key: "conditional_throughput", Name: "conditional\nthroughput", Unit: unit.PerSecond},
		{Key: "answer", Name: "answer"},
		{Key: "n", Name: "n", Unit: unit.Count},
	}...)}
	for _, p := range g.points {
		for _, goal := range results.Goals(p.Shown()) {
			t.Rows = append(t.Rows, goalRow(p, goal, l, notes))
		}
	}
	return t
}

func goalRow(p results.Point, g results.Goal, l layout, notes *document.Footnotes) document.Row {
	var marks []int
	undecided := g.Undecided
	if len(p.Ok()) == 0 { // the reason of the point says why
		undecided = nil
	}
	for _, why := range undecided {
		marks = append(marks, notes.Mark(p.Spec.Broker+g.Name, remark.Of("%s, undecided: %s", g.Name, why)))
	}
	slices.Sort(marks)
	bound, quantile := document.Cell{}, document.Cell{}
	if g.LatencyNs > 0 {
		bound, quantile = document.Number(g.LatencyNs), document.Number(g.Quantile)
	}
	rates, conditional := g.Sustained.Cell(), g.Conditional.Cell()
	rates.Unused, conditional.Unused = len(p.Ok()) == 0, len(p.Ok()) == 0
	row := pointCells(p, p.Load(), l)
	row["goal"] = document.Text(g.Name)
	row["latency_bound_ns"], row["quantile"] = bound, quantile
	row["sustainable"], row["conditional_throughput"] = rates, conditional
	row["answer"] = document.Text(g.Answer()).Marked(slices.Compact(marks)...)
	row["n"] = document.Number(g.N)
	return row
}
