package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
)

func init() {
	report.Register(report.Report{
		Name:  "trials",
		Doc:   "every trial of every search for a sustainable rate, in order",
		Build: trials,
	})
}

func trials(records []store.Record) (report.Document, error) {
	d := report.Document{Title: "Trials"}
	points := report.Points(records)
	searches := 0
	for _, p := range points {
		for _, r := range p.Records {
			if r.Result == nil || r.Result.Sustainable == nil {
				continue
			}
			searches++
			s := r.Result.Sustainable
			name := fmt.Sprintf("%s, %s, repetition %d", p.Name, p.Setting(), r.Repetition)
			d.Add(report.Heading{Level: 1, Text: name})
			d.Say(fmt.Sprintf("Sustainable: %s; %s; ended %s.", report.BoundsText(s.Low, s.High), limit(s), ending(r)))
			for _, g := range report.Flat(r)[0].Goals {
				d.Say(g.String() + ".")
			}
			d.Add(trialTable(name, s))
		}
	}
	if searches == 0 {
		d.Say(state(points))
		d.Say("No record holds a search for a sustainable rate.")
	}
	return d, nil
}

func limit(s *store.Sustainable) string {
	if s.Limit == "" || s.Limit == "unknown" {
		return "what ran out is not known"
	}
	return "what ran out: " + s.Limit
}

func ending(r store.Record) string {
	if r.Reason == "" {
		return string(r.Status)
	}
	return fmt.Sprintf("%s (%s)", r.Status, r.Reason)
}

// latency is blank for a probe: it is a closed loop.
func latency(t store.Trial, ns int64) report.Cell {
	if t.Kind == "probe" {
		return report.Cell{}
	}
	return report.Number(ns)
}

func trialTable(name string, s *store.Sustainable) report.Table {
	t := report.Table{Columns: []report.Column{
		{Key: "search", Data: true},
		{Key: "trial", Name: "#", Unit: report.Count, Row: true},
		{Key: "kind", Name: "kind"},
		{Key: "rate", Name: "rate", Unit: report.PerSecond},
		{Key: "verdict", Name: "verdict"},
		{Key: "publish_rate", Name: "published", Unit: report.PerSecond},
		{Key: "receive_rate", Name: "received", Unit: report.PerSecond},
		{Key: "backlog_slope", Name: "backlog\nslope", Unit: report.PerSecond},
		{Key: "e2e_p50_ns", Name: "e2e p50", Unit: report.Nanoseconds},
		{Key: "e2e_p99_ns", Name: "e2e p99", Unit: report.Nanoseconds},
		{Key: "seconds", Name: "length", Unit: report.Seconds},
		{Key: "reason", Name: "reason", Wide: true},
	}}
	verdict := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Key == "verdict" })
	t.Columns = slices.Insert(t.Columns, verdict+1, otherVerdicts(s)...)
	for i, trial := range s.Trials {
		rate := report.Number(trial.Rate)
		if trial.Rate == 0 { // a closed loop: as fast as the window allows
			rate = report.Cell{}
		}
		slope := trial.BacklogSlope
		if math.Abs(slope) < 0.01 { // what rounding leaves of none
			slope = 0
		}
		row := []report.Cell{
			report.Text(name),
			report.Number(i + 1),
			report.Text(trial.Kind),
			rate,
			report.Text(trial.Verdict),
			report.Number(trial.PublishRate),
			report.Number(trial.ReceiveRate),
			report.Number(slope),
			latency(trial, trial.EndToEndP50),
			latency(trial, trial.EndToEndP99),
			report.Number(trial.Seconds),
			report.Text(trial.Reason),
		}
		others := make([]report.Cell, max(0, len(s.Goals)-1)) // a probe is judged for no goal
		for j := range min(len(others), len(trial.Others)) {
			others[j] = report.Text(trial.Others[j])
		}
		t.Rows = append(t.Rows, slices.Insert(row, verdict+1, others...))
	}
	return t
}

// otherVerdicts are the columns of the goals behind the first.
func otherVerdicts(s *store.Sustainable) []report.Column {
	var columns []report.Column
	for i, g := range s.Goals {
		if i > 0 {
			columns = append(columns, report.Column{Key: fmt.Sprintf("verdict_%d", i+1), Name: "verdict\n" + report.GoalName(g)})
		}
	}
	return columns
}
