package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/report"
)

// goalsTable has a row for every goal of every search.
func goalsTable(g group, notes *report.Footnotes) report.Table {
	t := report.Table{Title: "Goals of the searches", Columns: []report.Column{
		{Key: "point_id", Data: true},
		{Key: "message_bytes", Unit: report.Bytes, Data: true},
		{Key: "delivery", Data: true},
		{Key: "broker", Name: "broker", Row: true},
		{Key: "load", Name: "load", Row: true},
		{Key: "goal", Name: "goal", Row: true},
		{Key: "latency_bound_ns", Unit: report.Nanoseconds, Data: true},
		{Key: "quantile", Data: true},
		{Key: "sustainable", Name: "sustainable", Unit: report.PerSecond, Spread: true},
		{Key: "conditional_throughput", Name: "conditional\nthroughput", Unit: report.PerSecond},
		{Key: "answer", Name: "answer"},
		{Key: "n", Name: "n", Unit: report.Count},
	}}
	for _, p := range g.points {
		for _, goal := range report.Goals(p.Shown()) {
			t.Rows = append(t.Rows, goalRow(p, goal, notes))
		}
	}
	return t
}

func goalRow(p report.Point, g report.Goal, notes *report.Footnotes) []report.Cell {
	var marks []int
	for _, why := range g.Undecided {
		marks = append(marks, notes.Mark(p.Spec.Broker+g.Name, g.Name+", undecided: "+why))
	}
	slices.Sort(marks)
	bound, quantile := report.Cell{}, report.Cell{}
	if g.LatencyNs > 0 {
		bound, quantile = report.Number(g.LatencyNs), report.Number(g.Quantile)
	}
	rates, conditional := g.Sustained.Cell(), g.Conditional.Cell()
	rates.Unused, conditional.Unused = len(p.Ok()) == 0, len(p.Ok()) == 0
	return []report.Cell{
		report.Text(p.ID),
		report.Number(p.Spec.MessageSize.Mean()),
		report.Text(p.Spec.Delivery),
		report.Text(p.Name),
		report.Text(p.Load()),
		report.Text(g.Name),
		bound,
		quantile,
		rates,
		conditional,
		report.Text(g.Answer()).Marked(slices.Compact(marks)...),
		report.Number(g.Sustained.N),
	}
}
