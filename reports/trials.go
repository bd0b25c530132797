package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "trials",
		Doc:   "every trial of every search for a sustainable rate, in order",
		Build: trials,
	})
}

func trials(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Trials"}
	points := set.Points
	searches := 0
	for _, p := range points {
		for _, r := range p.Records {
			if r.Result == nil || r.Result.Sustainable == nil {
				continue
			}
			searches++
			s := r.Result.Sustainable
			name := fmt.Sprintf("%s, %s, repetition %d", p.Name, p.Setting(), r.Repetition)
			d.Add(document.Heading{Level: 1, Text: name})
			d.Say(fmt.Sprintf("Sustainable: %s; %s; ended %s.", results.BoundsText(s.Low, s.High), limit(s), ending(r)))
			goals := results.Flat(r)[0].Goals
			if len(goals) == 1 && r.Status != results.OK {
				goals = nil // the reason says why
			}
			for _, g := range goals {
				d.Say(g.String() + ".")
			}
			d.Add(trialTable(name, s))
		}
	}
	if searches == 0 {
		d.Say(statusSentence(points))
		d.Say("No record holds a search for a sustainable rate.")
	}
	return d, nil
}

func limit(s *results.Sustainable) string {
	if s.Limit == "" || s.Limit == "unknown" {
		return "what ran out is not known"
	}
	return "what ran out: " + s.Limit
}

func ending(r results.Record) string {
	if r.Reason == "" {
		return string(r.Status)
	}
	return fmt.Sprintf("%s (%s)", r.Status, r.Reason)
}

// latency is blank for a probe: it is a closed loop.
func latency(t results.Trial, ns int64) document.Cell {
	if t.Kind == "probe" {
		return document.Cell{}
	}
	return document.Number(ns)
}

// trialTones are the tones of verdicts.
var trialTones = map[string]document.Tone{"void": document.Caution}

func trialTable(name string, s *results.Sustainable) document.Table {
	t := document.Table{Columns: []document.Column{
		{Key: "search", Data: true},
		{Key: "trial", Name: "#", Unit: unit.Count, Row: true},
		{Key: "kind", Name: "kind"},
		{Key: "rate", Name: "rate", Unit: unit.PerSecond},
		{Key: "verdict", Name: "verdict"},
		results.Column("publish_rate"),
		results.Column("receive_rate"),
		{Key: "backlog_slope", Name: "backlog\ngrowth ≤", Unit: unit.PerSecond},
		results.Column("e2e_p50_ns"),
		results.Column("e2e_p99_ns"),
		{Key: "seconds", Name: "length", Unit: unit.Seconds},
		{Key: "reason", Name: "reason", Wide: true},
	}}
	verdict := slices.IndexFunc(t.Columns, func(c document.Column) bool { return c.Key == "verdict" })
	t.Columns = slices.Insert(t.Columns, verdict+1, otherVerdicts(s)...)
	for i, trial := range s.Trials {
		rate := document.Number(trial.Rate)
		if trial.Rate == 0 { // a closed loop: as fast as the window allows
			rate = document.Cell{}
		}
		slope := trial.BacklogSlope
		if math.Abs(slope) < 0.01 { // what rounding leaves of none
			slope = 0
		}
		row := document.Row{
			"search":        document.Text(name),
			"trial":         document.Number(i + 1),
			"kind":          document.Text(trial.Kind),
			"rate":          rate,
			"verdict":       document.Text(trial.Verdict).Toned(trialTones[trial.Verdict]),
			"publish_rate":  document.Number(trial.PublishRate),
			"receive_rate":  document.Number(trial.ReceiveRate),
			"backlog_slope": document.Number(slope),
			"e2e_p50_ns":    latency(trial, trial.EndToEndP50),
			"e2e_p99_ns":    latency(trial, trial.EndToEndP99),
			"seconds":       document.Number(trial.Seconds),
			"reason":        document.Text(trial.Reason),
		}
		for j, other := range trial.Others[:min(len(trial.Others), max(0, len(s.Goals)-1))] { // a probe is judged for no goal
			row[otherVerdict(j+1)] = document.Text(other)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// otherVerdict is the key of the verdict for a goal behind the first.
func otherVerdict(goal int) string { return fmt.Sprintf("verdict_%d", goal+1) }

// otherVerdicts are the columns of the goals behind the first.
func otherVerdicts(s *results.Sustainable) []document.Column {
	var columns []document.Column
	for i, g := range s.Goals {
		if i > 0 {
			columns = append(columns, document.Column{Key: otherVerdict(i), Name: "verdict\n" + results.GoalName(g)})
		}
	}
	return columns
}
