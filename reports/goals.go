// A search looks for the highest rate at which its goals are met, and answers each goal by itself. Two
// repetitions of a search that was asked for a bound on p99 found
//
//	broker  goal        sustainable          conditional throughput  answer               n
//	kafka   p99 ≤ 10ms  ≥ 414k/s                             412k/s  undecided in 1 of 2  2
//
// The median of the highest rates that passed is 414k messages/s. The second search ended before any rate
// failed, so there is no upper bound.

package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// searchGoal is one goal of a point's searches, with what all of them found.
type searchGoal struct {
	results.Goal
	point results.Point
}

// goalsTable has a row for every goal of every point.
func goalsTable(points []results.Point, l layout, notes *footnotes) document.Table {
	loadPointOf := func(g searchGoal) results.LoadPoint {
		return results.LoadPoint{Point: g.point, RowTitle: g.point.Load()}
	}
	columns := append(convertColumns(pointColumns(l), loadPointOf), []columnOf[searchGoal]{
		textColumn(document.Column{Key: "goal", Name: "goal", Identifies: true}, func(g searchGoal) string { return g.Name }),
		cellColumn(document.Column{Key: "latency_bound_ns", Unit: unit.Nanoseconds, MachinesOnly: true},
			func(g searchGoal) document.Cell { return g.ofLatency(float64(g.LatencyNs)) }),
		cellColumn(forPrograms("quantile"), func(g searchGoal) document.Cell { return g.ofLatency(g.Quantile) }),
		cellColumn(document.Column{Key: "sustainable", Name: "sustainable", Unit: unit.PerSecond, Spread: true},
			func(g searchGoal) document.Cell { return g.Sustained.Cell().Excluded(!g.used()) }),
		cellColumn(heldColumn, func(g searchGoal) document.Cell { return g.Sustained.HeldCell().Excluded(!g.used()) }),
		cellColumn(document.Column{Key: "conditional_throughput", Name: "conditional\nthroughput", Unit: unit.PerSecond},
			func(g searchGoal) document.Cell { return g.Conditional.Cell().Excluded(!g.used()) }),
		cellColumn(document.Column{Key: "answer", Name: "answer"},
			func(g searchGoal) document.Cell { return document.Text(g.Answer()).Marked(g.whyUndecided(notes)...) }),
		repetitionsColumn(func(g searchGoal) int { return g.N }),
	}...)
	goals := lists.Flat(points, func(p results.Point) []searchGoal {
		return lists.Map(results.Goals(p.Shown()), func(g results.Goal) searchGoal { return searchGoal{Goal: g, point: p} })
	})
	return tableOf("Goals of the searches", columns, goals)
}

// used reports whether conclusions may be drawn from the searches.
func (g searchGoal) used() bool { return len(g.point.Ok()) > 0 }

// ofLatency is a figure of the goal's bound on latency. It is blank if the goal has no such bound.
func (g searchGoal) ofLatency(figure float64) document.Cell {
	if g.LatencyNs == 0 {
		return document.Cell{}
	}
	return document.Number(figure)
}

// whyUndecided are the footnotes that say why searches left the goal undecided. There are none if the
// searches are not used: then the footnotes of the point's status say why.
func (g searchGoal) whyUndecided(notes *footnotes) []int {
	if !g.used() {
		return nil
	}
	var marks []int
	for _, why := range g.Undecided {
		t := statement{key: doubt.IncompleteSearch.Sentence(), text: why.Text}
		marks = append(marks, notes.mark(string(doubt.IncompleteSearch.Class()), t, loadOf(g.point, g.point.Load())))
	}
	return marks
}
