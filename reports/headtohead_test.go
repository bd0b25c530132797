package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestAChartHasRoomForTheLowestTheMiddleAndTheHighestOfTheSharedRates(t *testing.T) {
	measured := func(rates ...float64) contender {
		var records []store.Record
		for i, rate := range rates {
			records = append(records, altered([]store.Record{both(int64(i), rate, 1e6, 1e6, store.OK)}, fmt.Sprint(rate), func(*store.Record) {})...)
		}
		return contendersOf(results.Of(records).Points)[0]
	}
	seven := []float64{100, 200, 300, 400, 500, 600, 700}
	for want, sides := range map[string][]contender{
		"[100 400 700]": {measured(seven...)},
		"[200 300 700]": {measured(seven...), measured(200, 300, 700)},
		"[200 500]":     {measured(seven...), measured(200, 500), measured(100, 200, 500)},
		"[]":            nil,
	} {
		if got := fmt.Sprint(chartedRates(contendersByRate(sides))); got != want {
			t.Errorf("%s are drawn, want %s", got, want)
		}
	}
}

func TestEveryPartOfAReportHasAHeadingOfTheFirstLevel(t *testing.T) {
	records := append(demo(1)[:4], curved(1), through("redis", "at-least-once", "log", kill, store.Books{}))
	documents := map[string]document.Document{"compare": Compare(Side{"a", results.Of(atRate("kafka", 1))}, Side{"b", results.Of(atRate("jetstream", 1))}, "broker")}
	for _, name := range []string{"summary", "headtohead", "trials", "points", "promise"} {
		documents[name] = build(t, name, records)
	}
	for name, d := range documents {
		n := 0
		for _, b := range d.Blocks {
			if h, ok := b.(document.Heading); ok {
				if n++; h.Level != 1 {
					t.Errorf("%s: %q is of level %d", name, h.Text, h.Level)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s has no heading", name)
		}
	}
}

func TestARowOfAHeadToHeadNeedsOneRepetitionOnly(t *testing.T) {
	search, peak := atRate("kafka", 1), atRate("kafka", 1)
	search = altered(search, "s", func(r *store.Record) {
		r.Spec.Measure, r.Result.Sustainable = "sustainable", &store.Sustainable{HeldNs: 20e9, Low: 5000, High: 5200}
		r.Result.Cost = store.Cost{}
	})
	peak = altered(peak, "p", func(r *store.Record) {
		r.Spec.Measure, r.Result.PublishRate, r.Result.Throughput = "peak", 8000, 7000 // the client was handed more than came through
		r.Result.Cost.GeneratorUserSeconds *= 3
	})
	table := build(t, "headtohead", slices.Concat(search, peak, atRate("kafka", 1))).Tables()[0]
	if c := cellsOf(t, table, "sustainable")["kafka"]; c.Number != 5000 || c.Low != 5000 || c.High != 5200 {
		t.Errorf("sustainable %+v", c)
	}
	if c := cellsOf(t, table, "peak_rate")["kafka"]; c.Number != 7000 {
		t.Errorf("peak %+v", c)
	}
	// A search that cost nothing was not metered: the peak's cost stands in the row.
	if c := cellsOf(t, table, "generator_cpu_s_per_million")["kafka"]; c.Number < 1.82 || c.Number > 1.84 {
		t.Errorf("cost %+v", c)
	}
	if c := cellsOf(t, table, "n")["kafka"]; c.Number != 1 {
		t.Errorf("n %+v", c)
	}
}

func TestOnlyOneRateHasAColumn(t *testing.T) {
	shaped := func(shape string, rate float64) []store.Record {
		return altered(atRate("kafka", 1), shape, func(r *store.Record) { r.Spec.Load = study.Load{Shape: shape, Rate: rate} })
	}
	for shape, want := range map[string]string{"constant": "e2e_p50_ns_at_0.5", "poisson": "e2e_p50_ns_at_0.5", "steps": "", "ramp": "", "bursts": ""} {
		var keys []string
		for _, c := range build(t, "headtohead", shaped(shape, 0.5)).Tables()[0].Columns {
			if strings.HasPrefix(c.Key, "e2e_p50") {
				keys = append(keys, c.Key)
			}
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q: columns %q, want %q", shape, got, want)
		}
	}
}

func TestTheLatencyOfAFaultTrialIsNoFigureOfAHeadToHead(t *testing.T) {
	faulty := altered(atRate("kafka", 2), "faulty", func(r *store.Record) {
		r.Spec.Faults = []study.Fault{{Do: "pause"}}
		r.Spec.Load.Rate = 5000
	})
	d := build(t, "headtohead", slices.Concat(atRate("kafka", 2), faulty))
	for _, c := range d.Tables()[0].Columns {
		if strings.HasSuffix(c.Key, "_at_5000") {
			t.Errorf("the table has a column %s", c.Key)
		}
	}
	for _, b := range d.Blocks {
		if w, ok := b.(document.Warning); ok {
			t.Errorf("nothing is compared with a fault trial, but: %s", w.Text())
		}
	}
}

// n bounds the repetitions below every figure of a row: those of two rates may differ.
func TestARowCountsTheMostRepetitionsThatEndedOkAtOneLoad(t *testing.T) {
	one, two := both(1, 1000, 1e6, 1e6, store.OK), both(2, 2000, 1e6, 1e6, store.OK)
	one.PointID, two.PointID, two.Repetition = "one", "two", 2
	for want, records := range map[float64][]store.Record{3: atRate("kafka", 3), 1: {one, two}} {
		if got := cellsOf(t, build(t, "headtohead", records).Tables()[0], "n"); len(got) != 1 || got[records[0].Spec.Broker].Number != want {
			t.Errorf("n is %v, want %v", got, want)
		}
	}
}

// A table has a cell for each contender and rate: a stranger's records must not have many of both.
func TestAHeadToHeadHasColumnsOfAsManyRatesAsAPersonReads(t *testing.T) {
	var records []store.Record
	for i := range maxRateColumns + 5 {
		rate := float64(1000 + i)
		records = append(records, altered([]store.Record{both(int64(i), rate, 1e6, 1e6, store.OK)}, fmt.Sprint(rate), func(*store.Record) {})...)
	}
	d := build(t, "headtohead", records)
	n := 0
	for _, c := range d.Tables()[0].Columns {
		if strings.HasPrefix(c.Key, results.KeyEndToEndP99+"_at_") {
			n++
		}
	}
	said := document.Block(document.Paragraph{Text: "Latencies at 5 further rates are left out."})
	if n != maxRateColumns || !slices.Contains(d.Blocks, said) {
		t.Errorf("%d columns, %v", n, d.Blocks)
	}
}
