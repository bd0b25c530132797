package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// everythingDoubted is a head-to-head in which four contenders of two sizes have every doubt and every ending, each for a reason of its own.
func everythingDoubted() []store.Record {
	var records []store.Record
	endings := []store.Status{store.OK, store.Failed, store.Void, store.Refused, store.Aborted}
	for _, broker := range []string{"jetstream", "kafka", "nats", "rabbitmq"} {
		for j := range 2 {
			for k, r := range []store.Record{doubted(broker), curved(1)} {
				r.Spec.Broker, r.PointID = broker, fmt.Sprint(broker, j, k)
				r.Spec.MessageSize = study.Sizes{{Size: study.Size(100 * (1 + j)), Weight: 1}}
				r.Doubts = nil
				for _, kind := range doubt.All() {
					r.Doubts = append(r.Doubts, store.DoubtOf(kind, fmt.Sprintf("%s of %s %d", kind.Code(), broker, j)))
				}
				for n, status := range endings {
					r.Repetition, r.Status = n+1, status
					if r.Reason = ""; status != store.OK {
						r.Reason = fmt.Sprintf("reason %d of %s", n, broker)
					}
					records = append(records, r)
				}
			}
		}
	}
	return records
}

func TestFootnotes_AreAtMostSixWhateverHappened(t *testing.T) {
	for _, report := range []string{"summary", "headtohead"} {
		d := build(t, report, everythingDoubted())
		notes := d.Notes()
		if len(notes) != 6 {
			t.Errorf("%s: %d footnotes: %v", report, len(notes), notes)
		}
		for mark, text := range notes {
			if strings.Count(text, "; ") > mostStatements {
				t.Errorf("%s: footnote %d says too much: %s", report, mark, text)
			}
		}
	}
}

// Every mark that a person sees has a note, and every note a mark.
func TestFootnotes_HaveMarksThatAreSeen(t *testing.T) {
	for _, report := range []string{"summary", "headtohead"} {
		d := build(t, report, everythingDoubted())
		seen := map[int]bool{}
		for _, table := range d.Tables() {
			for _, c := range table.Columns {
				for _, row := range table.Rows {
					marks := row[c.Key].Marks
					if once := slices.Compact(slices.Clone(marks)); len(once) != len(marks) {
						t.Errorf("%s: a mark stands twice in %s: %v", report, c.Key, marks)
					}
					for _, mark := range marks {
						seen[mark] = seen[mark] || !c.MachinesOnly
					}
				}
			}
		}
		for mark, text := range d.Notes() {
			if !seen[mark] {
				t.Errorf("%s: nothing points to footnote %d: %s", report, mark, text)
			}
		}
		if len(seen) != len(d.Notes()) {
			t.Errorf("%s: marks %v, notes %v", report, seen, d.Notes())
		}
	}
}

// doubted is a repetition of a broker at a rate, with doubts.
func doubted(broker string, doubts ...store.Doubt) store.Record {
	return altered(atRate("kafka", 1), broker, func(r *store.Record) {
		r.Spec.Broker, r.Axes["broker"], r.Doubts = broker, broker, doubts
	})[0]
}

func TestFootnotes_StandBesideTheFigureThatIsTouched(t *testing.T) {
	for kind, keys := range map[*doubt.Kind][]string{
		doubt.GeneratorLag:   {"e2e_p50_ns", "e2e_p99_ns"},
		doubt.GeneratorBound: {"throughput"},
		doubt.Loss:           {"lost"},
		doubt.CoarseCPU:      {"broker_cpu_s_per_million", "generator_cpu_s_per_million"},
		doubt.BusyMachine:    {"status"},
		doubt.RateMissed:     nil, // the status says it in words
		doubt.ClockBound:     nil, // the cell has ±
		doubt.OldVersion:     nil,
	} {
		table := build(t, "summary", []store.Record{doubted("kafka", store.DoubtOf(kind, "so"))}).Tables()[0]
		var marked []string
		for _, c := range table.Columns {
			if len(table.Rows[0][c.Key].Marks) > 0 && !c.MachinesOnly {
				marked = append(marked, c.Key)
			}
		}
		if !slices.Equal(marked, keys) {
			t.Errorf("%s marks %q, want %q", kind.Code(), marked, keys)
		}
	}
}

func TestFootnotes_LeaveOutFiguresThatNoConclusionIsDrawnFrom(t *testing.T) {
	r := doubted("kafka", store.DoubtOf(doubt.GeneratorLag, "so"), store.DoubtOf(doubt.BusyMachine, "and so"))
	r.Status, r.Reason = store.Void, "the generator was late"
	for _, report := range []string{"summary", "headtohead"} {
		if notes := build(t, report, []store.Record{r}).Notes(); len(notes) != 1 || !strings.HasPrefix(notes[1], "not ok: void: the generator was late") {
			t.Errorf("%s: %v", report, notes)
		}
	}
}

func TestFootnotes_OfALatencyStandBesideTheQuantilesThatAreTouched(t *testing.T) {
	lag := store.DoubtOf(doubt.GeneratorLag, "so")
	lag.Quantiles = []float64{0.99, 0.999}
	row := build(t, "summary", []store.Record{doubted("kafka", lag)}).Tables()[0].Rows[0]
	if len(row["e2e_p50_ns"].Marks) != 0 || len(row["e2e_p99_ns"].Marks) != 1 {
		t.Errorf("p50 %v, p99 %v", row["e2e_p50_ns"].Marks, row["e2e_p99_ns"].Marks)
	}
}

func TestFootnotes_SayTheWorstOnceAndHowManyOthersThereAre(t *testing.T) {
	of := func(kind *doubt.Kind, share float64, text string) store.Doubt {
		d := store.DoubtOf(kind, text)
		d.Share = share
		return d
	}
	lag, worse := of(doubt.GeneratorLag, 0.2, "up to 1ms of 5ms"), of(doubt.Pauses, 0.5, "up to 4ms of 8ms")
	records := []store.Record{doubted("jetstream", lag), doubted("kafka", worse), doubted("nats", lag)}
	for _, report := range []string{"summary", "headtohead"} {
		notes := build(t, report, records).Notes()
		if len(notes) != 1 || !strings.HasPrefix(notes[1], "generator: up to 4ms of 8ms (kafka, ") || !strings.HasSuffix(notes[1], ", and 2 more)") {
			t.Errorf("%s: %v", report, notes)
		}
	}
}

func TestFootnotes_SayOnceWithoutAMarkWhatIsTrueOfAllFigures(t *testing.T) {
	old := store.DoubtOf(doubt.OldVersion, "version 3.9 is from 2021")
	d := build(t, "headtohead", []store.Record{doubted("kafka", old), doubted("nats", old)})
	said := slices.ContainsFunc(d.Blocks, func(b document.Block) bool {
		return b == document.Paragraph{Text: "How it was measured: Version 3.9 is from 2021 (kafka, and 1 more)."}
	})
	if !said || len(d.Notes()) != 0 {
		t.Errorf("%+v", d.Blocks)
	}
}

// What another version or program stored may have any code and any text.
func TestFootnotes_OfForeignDoubts(t *testing.T) {
	for text, want := range map[string]string{"": "How it was measured:  (kafka).", "überholt": "How it was measured: Überholt (kafka)."} {
		d := build(t, "summary", []store.Record{doubted("kafka", store.Doubt{Code: "short-horizon", Text: text})})
		if !slices.Contains(d.Blocks, document.Block(document.Paragraph{Text: want})) || len(d.Notes()) != 0 {
			t.Errorf("%q: %+v", text, d.Blocks)
		}
	}
}

func TestFootnotes_SayWhyPointsAreRefusedToAllThatAreAlike(t *testing.T) {
	var notes footnotes
	refused := func(broker string) results.Point {
		r := doubted(broker)
		r.Status, r.Reason = store.Refused, "acks: can't"
		return results.Of([]store.Record{r}).Points[0]
	}
	a, b := reasonMarks(refused("kafka"), &notes), reasonMarks(refused("nats"), &notes)
	if want := (document.Note{Mark: 1, Text: "refused: acks: can't (kafka, and 1 more)"}); !slices.Equal(a, b) || notes.blocks()[0] != want {
		t.Errorf("marks %v and %v: %+v", a, b, notes.blocks())
	}
}

func TestDoubtsReport_HasEveryDoubtAndWhatItMeans(t *testing.T) {
	r := doubted("kafka", store.DoubtOf(doubt.ClockBound, "±3ms"), store.DoubtOf(doubt.InProcess, "inside"))
	d := build(t, "doubts", []store.Record{r})
	tables := d.Tables()
	if len(tables) != 2 || len(tables[0].Rows) != 2 || tables[1].Rows[0]["means"].Text != doubt.ClockBound.Sentence() {
		t.Fatalf("%+v", tables)
	}
	if row := tables[0].Rows[0]; row["class"].Text != "clocks" || row["doubt"].Text != "clock-bound" || row["seen"].Text != "±3ms" || row["repetitions"].Number != 1 {
		t.Errorf("%+v", row)
	}
	if d := build(t, "doubts", []store.Record{doubted("kafka")}); len(d.Tables()) != 0 || len(d.Blocks) != 2 {
		t.Errorf("without doubts: %+v", d.Blocks)
	}
}
