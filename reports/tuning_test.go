package reports

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/tune"
	"github.com/brokermark/brokermark/internal/verdict"
)

// tunedRecords are of a tuning of one setting, whose default has a p99 of 10 ms and whose other value has another one.
func tunedRecords(other float64, confirmations int) (records []results.Record) {
	for part, n := range map[string]int{tune.Race: 3, tune.Confirm: confirmations} {
		for k := range n {
			for i, value := range []string{"1", "5"} {
				name := []string{tune.Default, "client.linger.ms=5"}[i]
				r := store.Record{
					Study: "tune-1", PointID: name + part, Label: name, Repetition: k + 1, Seed: int64(k + 1), Status: store.OK,
					Began: time.Unix(int64(1000*k+i), 0), Result: &store.Result{},
					Axes: map[string]string{"sweep": part, "candidate": name, "goal": results.KeyEndToEndP99, "confirmations": "6", "client.linger.ms": value},
				}
				r.Result.Given = map[string]float64{results.KeyEndToEndP99: []float64{10e6, other}[i] * math.Exp(0.02*math.Sin(float64(7*k+i)))}
				r.Spec.Broker, r.Settings.Client = "kafka", map[string]any{"linger.ms": value}
				records = append(records, r)
			}
		}
	}
	return records
}

func TestATuningIsToldFromItsRecords(t *testing.T) {
	for want, records := range map[string][]results.Record{
		"client.linger.ms=5 is better than the default: e2e p99 5.":                                  tunedRecords(5e6, 6),
		"Nothing better than the default was shown.":                                                 tunedRecords(9.99e6, 6),
		"the default was the best of the race":                                                       tunedRecords(12e6, 0),
		"Not confirmed: client.linger.ms=5 was the best of the race. 2 of 6 confirmations ended ok.": tunedRecords(5e6, 2),
	} {
		d, err := recommendReport(results.Of(records))
		if err != nil {
			t.Fatal(err)
		}
		text, pasted := "", false
		for _, b := range d.Blocks {
			if v, ok := b.(document.Verdict); ok {
				text += v.Finding + " " + v.Detail
			}
			if l, ok := b.(document.Listing); ok {
				pasted = strings.Contains(l.Text, "linger.ms: ")
			}
		}
		if !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			t.Errorf("it says %q, want %q", text, want)
		}
		if isBetter := strings.Contains(want, "is better"); pasted != isBetter {
			t.Errorf("%q: settings to paste: %v", want, pasted)
		}
	}
}

func TestABetterTuningSaysWhatItDoesToTheBoundedMetrics(t *testing.T) {
	bound, err := gate.Parse("broker_cpu_s_per_million > 9")
	if err != nil {
		t.Fatal(err)
	}
	records := tunedRecords(5e6, 6)
	for i := range records {
		records[i].Result.Given[results.KeyBrokerCPU] = map[string]float64{"1": 2, "5": 4}[records[i].Axes["client.linger.ms"]]
	}
	c := tune.Cases(records)[0]
	c.Bounds = []gate.Condition{bound}
	if text := tuningFinding(c.Decide(records)); !strings.HasSuffix(text, " With it broker CPU is 4.00 s instead of 2.00 s.") {
		t.Errorf("it says %q", text)
	}
}

func TestTheScreenOfATuningHasTheDoubtsOfItsConfirmations(t *testing.T) {
	records := tunedRecords(5e6, 6)
	for i := range records {
		if records[i].Axes["sweep"] == tune.Confirm && records[i].Axes["client.linger.ms"] == "5" {
			records[i].Doubts = []store.Doubt{{Code: "generator-lag", Text: "it is planted"}}
		}
	}
	text := string(rendered(t, Tuning(tune.Cases(records)[0].Decide(records)), "terminal", 80))
	for _, want := range []string{"Doubts about the best (n=6): generator (6).", "Doubts about the default (n=6): none."} {
		if !strings.Contains(text, want) {
			t.Errorf("it doesn't say %q:\n%s", want, text)
		}
	}
}

// Of candidates that don't differ the one with the fewest changes is confirmed, and the comparisons may be around another one.
func TestTheEffectOfASettingSaysWithWhichValueItWasComparedIfNotTheBest(t *testing.T) {
	knob := tune.Knob{Path: "client.fetch.min.bytes", Values: []string{"1", "16384"}}
	effects := []tune.Effect{{Knob: knob, Around: &tune.Entry{Candidate: tune.Candidate{1}}, Changes: []tune.Change{{Value: "1", Difference: results.Difference{Ratio: verdict.Ratio{Estimate: 0.8, Low: 0.7, High: 1.1}}}}}}
	for best, want := range map[int]string{0: " 1 instead of 16384: 0.800×", 1: " 1: 0.800×"} {
		a := tune.Answer{Case: &tune.Case{Goal: results.MustMetric(results.KeyBrokerCPU), Knobs: []tune.Knob{knob}}, Best: &tune.Entry{Candidate: tune.Candidate{best}}, Effects: effects}
		d := document.Document{Blocks: []document.Block{effectsTable(a)}}
		if text := string(rendered(t, d, "terminal", 160)); !strings.Contains(text, want) {
			t.Errorf("it says\n%s\nwant %q", text, want)
		}
	}
}
