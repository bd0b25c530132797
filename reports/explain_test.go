package reports

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestTheLimitOfEveryLoadIsInATableAndThoseThatKeptUpAreCounted(t *testing.T) {
	search := demo(1)[0]
	peak := search
	peak.PointID, peak.Spec.Measure, peak.Result = "peak", study.MeasurePeak, &store.Result{}
	peak.Result.Limits = store.Limits{{Cause: "disk", Seen: "the disk, vda, was busy for 61 % of the time"}}
	kept := search
	kept.PointID, kept.Spec.Measure, kept.Spec.Load.Rate, kept.Result = "rate", study.MeasureRate, 1000, &store.Result{}
	d := build(t, "explain", []store.Record{search, peak, kept})
	rows := d.Tables()[0].Rows
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range [][4]string{
		{"broker-thread", "one thread of the broker, worker-1, at 97 % of a core", "cpu", "the machine's 2 cores, of which broker (1.1) and generator (0.6) used 1.7"},
		{"none shown", "", "disk", "the disk, vda, was busy for 61 % of the time"},
	} {
		for k, key := range []string{"limit", "limit_seen", "next", "next_seen"} {
			if got := rows[i][key].Text; got != want[k] {
				t.Errorf("row %d: %s is %q, want %q", i, key, got, want[k])
			}
		}
	}
	if text := string(rendered(t, d, "markdown", 0)); !strings.Contains(text, "Not in the table: 1 load") {
		t.Errorf("what kept up is not counted: %s", text)
	}
}

func TestAnExplanationIsBelowTheTableAndNoRowOfIt(t *testing.T) {
	search := demo(1)[0]
	c := explain.Case{Study: explain.StudyPrefix + "00000001", Cause: "client-window"}
	for rate, want := range map[float64]string{
		2000: "The rate moved: unconfirmed messages had no place in the window.",
		500:  "The rate moved, but the other way",
		1003: "The rate didn't move: the window is full because of something else.",
		0:    "Undecided: no repetition with the change ended ok; the last: failed: it fell over.",
	} {
		records := []store.Record{search}
		for change, at := range map[string]float64{explain.Unchanged: 1000, "twice the window": rate} {
			for i := range 3 {
				r := store.Record{
					Study: c.Study, PointID: change, Label: "nats peak, " + change, Axes: c.Axes(change), Repetition: i + 1, Status: store.OK,
					Spec: study.Spec{Broker: "nats", Measure: study.MeasurePeak}, Result: &store.Result{Given: map[string]float64{results.KeyThroughput: at}},
				}
				if change != explain.Unchanged {
					r.Doubts = []store.Doubt{{Code: "busy-machine", Text: "it is planted"}}
				}
				if at == 0 {
					r.Status, r.Reason, r.Result = store.Failed, "it fell over", nil
				}
				records = append(records, r)
			}
		}
		d := build(t, "explain", records)
		text := strings.Join(strings.Fields(string(rendered(t, d, "markdown", 0))), " ")
		if len(d.Tables()[0].Rows) != 1 || !strings.Contains(text, want) || !strings.Contains(text, "The limit of nats peak: client-window.") {
			t.Errorf("%g: %d rows, no %q in\n%s", rate, len(d.Tables()[0].Rows), want, text)
		}
		for _, doubts := range []string{"Doubts about twice the window (n=3): machine (3).", "Doubts about the point unchanged (n=3): none."} {
			if rate > 0 && !strings.Contains(text, doubts) {
				t.Errorf("%g: no %q in\n%s", rate, doubts, text)
			}
		}
	}
}
