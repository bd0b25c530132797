// The trials report: every search for a sustainable rate, trial by trial. A search offers one rate after
// the other; a trial passes if the broker keeps up with it and the latency goal is met. Probes are closed
// loops, without a rate, which guess where to begin.
//
//	#  kind        rate  verdict  published  received  backlog growth ≤  e2e p50  e2e p99  length  reason
//	1  probe          –  pass       974k/s    974k/s               0/s        –        –  5.00 s  –
//	2  short     853k/s  fail       853k/s    835k/s           17.9k/s  41.0 ms  90.0 ms  1.00 s  the backlog grows …
//	3  confirm   812k/s  pass       812k/s    812k/s               0/s  3.10 ms  11.0 ms  5.00 s  –
//
// The growth of the backlog is its upper bound, as a noisy trial leaves room for more than was seen.

package reports

import (
	"fmt"
	"math"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "trials",
		Doc:   "every trial of every search for a sustainable rate, in order",
		Build: trialsReport,
	})
}

func trialsReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Trials"}
	searches := 0
	for _, p := range set.Points {
		for _, r := range p.Records {
			if r.Result != nil && r.Result.Sustainable != nil {
				searches++
				addSearch(&d, p, r)
			}
		}
	}
	if searches == 0 {
		d.Say(statusSentence(set.Points))
		d.Say("No record holds a search for a sustainable rate.")
	}
	return d, nil
}

// addSearch adds the search of a repetition: its result, then its trials.
func addSearch(d *document.Document, p results.Point, r results.Record) {
	search := r.Result.Sustainable
	name := fmt.Sprintf("%s, %s, repetition %d", p.Name, p.Title(), r.Repetition)
	d.Add(document.Heading{Level: 1, Text: name})
	bounds := results.BoundsText(search.Low, search.High, search.HeldNs)
	d.Say(fmt.Sprintf("Sustainable: %s; %s; ended %s.", bounds, search.Limits, endingText(r)))
	goals := results.FlatGoals(r)
	if len(goals) > 1 || r.Status == results.OK { // the reason of a search that failed is about its only goal
		for _, g := range goals {
			d.Say(g.String() + ".")
		}
	}
	d.Add(trialTable(name, search))
}

// endingText is how a repetition ended, and why if that isn't ok: "void (the generator was late)".
func endingText(r results.Record) string {
	if r.Reason == "" {
		return string(r.Status)
	}
	return fmt.Sprintf("%s (%s)", r.Status, r.Reason)
}

// numberedTrial is a trial with its place in its search, from 1.
type numberedTrial struct {
	number int
	results.Trial
}

// latency is blank for a probe, which is a closed loop.
func (t numberedTrial) latency(ns int64, atLeast bool) document.Cell {
	switch {
	case t.Kind == "probe":
		return document.Cell{}
	case atLeast:
		return document.AtLeast(float64(ns))
	}
	return document.Number(ns)
}

// rate is blank for a closed loop, which sends as fast as the window allows.
func (t numberedTrial) rate() document.Cell {
	if t.Rate == 0 {
		return document.Cell{}
	}
	return document.Number(t.Rate)
}

// backlogGrowth is the growth of the backlog per second. What is left by rounding is shown as 0.
func (t numberedTrial) backlogGrowth() document.Cell {
	const rounding = 0.01 // messages per second
	if math.Abs(t.BacklogSlope) < rounding {
		return document.Number(0)
	}
	return document.Number(t.BacklogSlope)
}

// verdictCell is the verdict on the first goal.
func (t numberedTrial) verdictCell() document.Cell {
	cell := document.Text(t.Verdict)
	if t.Verdict == "void" {
		return cell.Toned(document.Caution)
	}
	return cell
}

// furtherVerdict is the verdict on a goal after the first, by its index among all goals: Others holds that
// on the second goal, index 1, at 0. It is empty for a probe, which is judged for no goal.
func (t numberedTrial) furtherVerdict(goal int) string {
	if goal > len(t.Others) {
		return ""
	}
	return t.Others[goal-1]
}

// trialTable has a row for each trial, and columns for the verdicts on as many goals as a person reads.
func trialTable(name string, search *results.Sustainable) document.Table {
	columns := []columnOf[numberedTrial]{
		textColumn(document.Column{Key: "search", MachinesOnly: true}, func(numberedTrial) string { return name }),
		numberColumn(document.Column{Key: "trial", Name: "#", Unit: unit.Count, Identifies: true},
			func(t numberedTrial) int { return t.number }),
		textColumn(document.Column{Key: "kind", Name: "kind"}, func(t numberedTrial) string { return t.Kind }),
		cellColumn(document.Column{Key: "rate", Name: "rate", Unit: unit.PerSecond}, numberedTrial.rate),
		cellColumn(document.Column{Key: "verdict", Name: "verdict", Attribute: true}, numberedTrial.verdictCell),
	}
	shown := min(len(search.Goals), mostCells/max(1, len(search.Trials)))
	for goal := 1; goal < shown; goal++ { // the first goal has the column above
		column := document.Column{Key: fmt.Sprintf("verdict_%d", goal+1), Name: "verdict\n" + results.GoalName(search.Goals[goal])}
		columns = append(columns, textColumn(column, func(t numberedTrial) string { return t.furtherVerdict(goal) }))
	}
	columns = append(columns,
		numberColumn(results.Column(results.KeyPublishRate), func(t numberedTrial) float64 { return t.PublishRate }),
		numberColumn(results.Column(results.KeyReceiveRate), func(t numberedTrial) float64 { return t.ReceiveRate }),
		cellColumn(document.Column{Key: "backlog_slope", Name: "backlog\ngrowth ≤", Unit: unit.PerSecond}, numberedTrial.backlogGrowth),
		cellColumn(results.Column(results.KeyEndToEndP50), func(t numberedTrial) document.Cell { return t.latency(t.EndToEndP50, t.P50AtLeast) }),
		cellColumn(results.Column(results.KeyEndToEndP99), func(t numberedTrial) document.Cell { return t.latency(t.EndToEndP99, t.P99AtLeast) }),
		numberColumn(document.Column{Key: "seconds", Name: "length", Unit: unit.Seconds}, func(t numberedTrial) float64 { return t.Seconds }),
		textColumn(document.Column{Key: "reason", Name: "reason", Wide: true}, func(t numberedTrial) string { return t.Reason }),
	)
	var numbered []numberedTrial
	for i, trial := range search.Trials {
		numbered = append(numbered, numberedTrial{number: i + 1, Trial: trial})
	}
	return tableOf("", columns, numbered)
}
