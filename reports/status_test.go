package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

func TestStateSaysWhatThereIs(t *testing.T) {
	records := func(statuses ...store.Status) []results.Point {
		var out []store.Record
		for i, s := range statuses {
			out = append(out, store.Record{PointID: fmt.Sprint(i / 2), Repetition: i, Status: s})
		}
		return results.Of(out).Points
	}
	ok, void, failed, refused := store.OK, store.Void, store.Failed, store.Refused
	for want, points := range map[string][]results.Point{
		"The store holds no record yet: nothing was measured.":                                           nil,
		"1 repetition of 1 point: 1 ok. A single point: there is nothing to compare it with.":            records(ok),
		"2 repetitions of 1 point: 1 failed, 1 ok. A single point: there is nothing to compare it with.": records(ok, failed),
		"3 repetitions of 2 points: 3 ok.":                                                               records(ok, ok, ok),
		"2 repetitions of 1 point: 2 void. Every one is void: no conclusion can be drawn.":               records(void, void),
		"3 repetitions of 2 points: 1 refused, 2 void. None ended ok: no conclusion can be drawn.":       records(void, refused, void),
	} {
		if got := statusSentence(points); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestALossIsCountedOverEveryRepetitionThatRan(t *testing.T) {
	records := atRate("kafka", 4)
	for i, status := range []store.Status{store.OK, store.Failed, store.Void, store.Aborted} {
		result := *records[i].Result
		result.Books.Lost = int64(math.Pow(10, float64(i)))
		records[i].Result, records[i].Status = &result, status
	}
	all := results.Of(records).Points[0].LoadPoints()[0]
	if cell := summaryCell(all, "lost"); cell.Number != 11 || cell.Unused {
		t.Errorf("lost %+v, want 1 and 10", cell)
	}
	if cell := summaryCell(all, "sent"); cell.Number != 20_000 {
		t.Errorf("sent %v", cell.Number)
	}
}

// What a void repetition counted stands in parentheses, wherever it stands; what a failed one counted is a fact.
func TestCountsOfAVoidRepetitionStandInParentheses(t *testing.T) {
	curve := curved(1)
	curve.Spec.Broker, curve.Result.Sustainable = "kafka", nil
	for of, r := range map[string]store.Record{"a rate": atRate("kafka", 1)[0], "a curve": curve} {
		for status, unused := range map[store.Status]bool{store.OK: false, store.Failed: false, store.Void: true} {
			r.Status, r.Result.Curve = status, slices.Clone(r.Result.Curve)
			for i := range r.Result.Curve {
				r.Result.Curve[i].Status = status
			}
			for _, report := range []string{"summary", "ledger"} {
				rows := build(t, report, []store.Record{r}).Tables()[0].Rows
				for _, row := range rows {
					if lost := row["lost"]; lost.Kind == document.Blank || lost.Unused != unused {
						t.Errorf("%s, %s, in the %s: %+v", of, status, report, lost)
					}
				}
			}
		}
	}
}

func TestARateOfACurveThatFailedSaysWhy(t *testing.T) {
	r := curved(1)
	r.Result.Curve[1].Status, r.Result.Curve[1].Reason = store.Failed, "lost 5"
	r.Result.Curve[2].Status, r.Result.Curve[2].Reason = store.Void, "the generator was late"
	d := build(t, "summary", []store.Record{r})
	table, notes := d.Tables()[0], d.Notes()
	for i, want := range []string{"", "", "failed: lost 5 (rabbitmq, curve 50.0 %)", "void: the generator was late (rabbitmq, curve 90.0 %)"} {
		status := table.Rows[i]["status"]
		var texts []string
		for _, mark := range status.Marks {
			texts = append(texts, notes[mark])
		}
		if got := strings.Join(texts, "|"); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("row %d, %s: notes %q, want %q", i, status.Text, got, want)
		}
		if table.Rows[i]["publish_rate"].Unused != (i > 1) {
			t.Errorf("row %d: %+v", i, table.Rows[i]["publish_rate"])
		}
	}
}

func TestAnOkRecordWithoutAResultHasNoFigures(t *testing.T) {
	bare := altered(atRate("kafka", 2), "", func(*store.Record) {})
	bare[1].Result = nil
	curve := altered(bare[:1], "curve", func(r *store.Record) { r.Spec.Measure = "curve" })
	curve[0].Result = nil
	peak := altered(atRate("kafka", 1), "peak", func(r *store.Record) { r.Spec.Measure = "peak" })
	peak[0].Result = nil
	table := build(t, "headtohead", slices.Concat(bare, curve, peak)).Tables()[0]
	alone := build(t, "headtohead", bare[:1]).Tables()[0]
	for _, key := range []string{"e2e_p99_ns_at_1000", "generator_cpu_s_per_million", "peak_rate", "sustainable"} {
		if got, want := cellsOf(t, table, key)["kafka"], cellsOf(t, alone, key)["kafka"]; got.Number != want.Number || got.Kind != want.Kind {
			t.Errorf("%s is %+v, want %+v", key, got, want)
		}
	}
}

func TestWhatTheMachineDidIsShownWhereItIsDoubted(t *testing.T) {
	for code, shown := range map[string]bool{"pauses": true, "generator-lag": false} {
		records := altered(atRate("kafka", 1), "", func(r *store.Record) {
			r.Doubts = []store.Doubt{{Code: code, Text: "so"}}
			r.Result.Pauses = &store.Pauses{Late: r.Result.Latency.Lag, LongestNs: 5e6}
		})
		if text := string(rendered(t, build(t, "summary", records), "terminal", 200)); strings.Contains(text, "own pauses") != shown {
			t.Errorf("with the doubt %s own pauses are shown: %v\n%s", code, !shown, text)
		}
	}
}

// No figure reaches a reader without its doubts.
func TestReportsWithoutMarksCountDoubts(t *testing.T) {
	records := atRate("kafka", 3)
	for i := range records {
		records[i].Study, records[i].Axes = "raje-2019", map[string]string{"when": "now"}
		records[i].Doubts = []store.Doubt{{Code: "pauses", Text: "so"}, {Code: "generator-lag", Text: "and so"}, {Code: "in-process", Text: "always"}}
	}
	records[0].Doubts = append(records[0].Doubts, store.Doubt{Code: "few-samples", Text: "nine"})
	const want = "Doubts that mark a figure, by the repetitions that ended ok and have them: generator (3), too short (1). Which, and all others: brokermark report doubts."
	for _, report := range []string{"claims", "verdicts", "study"} {
		if text := fmt.Sprint(build(t, report, records).Blocks); !strings.Contains(text, want) {
			t.Errorf("%s: doubts aren't told: %s", report, text)
		}
	}
	for _, report := range []string{"claims", "study"} { // what is true of all figures is said once below them
		if text := fmt.Sprint(build(t, report, records).Blocks); strings.Count(text, "How it was measured: Always (") != 1 {
			t.Errorf("%s: what is said once isn't: %s", report, text)
		}
	}
}
