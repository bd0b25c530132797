package reports

import (
	"fmt"
	"math"

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
			d.Say(fmt.Sprintf("Sustainable: %s; %s; ended %s.", bracket(s), limit(s), ending(r)))
			d.Add(trialTable(name, s.Trials))
		}
	}
	if searches == 0 {
		d.Say(state(points))
		d.Say("No record holds a search for a sustainable rate.")
	}
	return d, nil
}

func bracket(s *store.Sustainable) string {
	switch {
	case s.Low == 0 && s.High == 0:
		return "no rate was found"
	case s.Low == 0:
		return "no rate passed, the lowest that failed was " + report.PerSecond.Format(s.High)
	case s.High == 0:
		return "at least " + report.PerSecond.Format(s.Low) + ", no rate failed"
	}
	return report.PerSecond.Range(s.Low, s.High)
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

func trialTable(name string, trials []store.Trial) report.Table {
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
	for i, trial := range trials {
		rate := report.Number(trial.Rate)
		if trial.Rate == 0 { // a closed loop: as fast as the window allows
			rate = report.Cell{}
		}
		slope := trial.BacklogSlope
		if math.Abs(slope) < 0.01 { // what rounding leaves of none
			slope = 0
		}
		t.Rows = append(t.Rows, []report.Cell{
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
		})
	}
	return t
}
