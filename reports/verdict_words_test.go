package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// at is the rate that a verdict compares at; more than two of them are told in short.
func TestManyFixedRatesAreToldInShort(t *testing.T) {
	var records []store.Record
	for i, rate := range []float64{1000, 2000, 3000} {
		for _, broker := range []string{"kafka", "jetstream"} {
			records = append(records, altered(atRate(broker, 5), fmt.Sprint(rate), func(r *store.Record) { r.Spec.Load.Rate = rate })...)
		}
		text := textOf(rankingVerdicts("g", results.Of(records).Points))
		full := strings.Count(text, "At rate ")
		short := strings.Count(text, "owest e2e p99: ")
		switch {
		case i < 2 && (full != i+1 || short != i+1):
			t.Errorf("%d rates: %s", i+1, text)
		case i == 2 && (full != 0 || short != 1 || strings.Count(text, " at ") != 3):
			t.Errorf("%d rates: %s", i+1, text)
		}
	}
}

func TestCostsAreToldOfTheBestTwo(t *testing.T) {
	brokers := []string{"kafka", "jetstream", "rabbitmq"}
	for n := 1; n <= 3; n++ {
		var records []store.Record
		for _, broker := range brokers[:n] {
			records = append(records, altered(atRate("kafka", 7), broker, func(r *store.Record) {
				r.Spec.Broker, r.Spec.Measure, r.Spec.Load.Rate = broker, "peak", 0
				r.Axes["broker"] = broker
			})...)
		}
		text := textOf(rankingVerdicts("g", results.Of(records).Points))
		for words, want := range map[string]int{"At that rate kafka had": []int{0, 1, 0, 0}[n], "At its own rate jetstream had": []int{0, 0, 1, 0}[n], "; kafka had": []int{0, 0, 1, 0}[n]} {
			if got := strings.Count(text, words); got != want {
				t.Errorf("%d on a level: %q %d times, want %d: %s", n, words, got, want, text)
			}
		}
	}
	for measure, words := range map[string]string{"peak": "At that rate kafka had", "count": "In that, kafka had", "backlog": "In that, kafka had"} {
		records := altered(atRate("kafka", 1), "", func(r *store.Record) {
			r.Spec.Measure, r.Spec.Load.Rate = measure, 0
			r.Result.Count, r.Result.Backlog = &store.Count{TotalSeconds: 1}, &store.Backlog{DrainRate: 1}
		})
		if text := textOf(rankingVerdicts("g", results.Of(records).Points)); !strings.Contains(text, words) {
			t.Errorf("%s: %s", measure, text)
		}
	}
}

func TestAVerdictNamesWhoHasNoFigure(t *testing.T) {
	kafka := atRate("kafka", 2)
	void := altered(atRate("jetstream", 1), "", func(r *store.Record) { r.Status = store.Void })
	no := altered(atRate("rabbitmq", 1), "", func(r *store.Record) { r.Status, r.Result = store.Refused, nil })
	again := altered(no[:0], "", nil)
	for _, r := range no {
		r.PointID, r.Spec.Load.Rate = "other", 5
		again = append(again, r)
	}
	silent := altered(atRate("jetstream", 1), "silent", func(r *store.Record) {
		r.Spec.Broker, r.Result.Latency.EndToEnd = "qpid", hist.Snapshot{}
	})
	v := rankingVerdicts("g", results.Of(slices.Concat(kafka, void, silent, no, again)).Points)[0]
	text := v.Text()
	for _, want := range []string{"g. Measured alone: e2e p99 of kafka", "Without a usable figure: jetstream at rate 1k/s (void), qpid at rate 1k/s (no e2e p99).", "Refused by rabbitmq."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	// A curve at given rates has its figures at these, and searches for no sustainable rate.
	curve := altered(atRate("jetstream", 1), "curve", func(r *store.Record) { r.Spec.Measure = study.MeasureCurve })
	if text := textOf(rankingVerdicts("g", results.Of(slices.Concat(kafka, curve)).Points)); strings.Contains(text, "usable") {
		t.Errorf("a curve that ended ok: %s", text)
	}
	var nats []store.Record
	for _, r := range slices.Concat(no, again) {
		r.PointID, r.Spec.Broker = r.PointID+"nats", "nats"
		nats = append(nats, r)
	}
	if got := rankingVerdicts("g", results.Of(slices.Concat(no, again, nats)).Points)[0]; got.Detail != "Refused by nats, rabbitmq." {
		t.Errorf("two brokers at two rates each: %q", got.Detail)
	}
	if got := rankingVerdicts("g", results.Of(no).Points)[0]; got.Finding != "No conclusion." || got.Detail != "Refused by rabbitmq." || got.About != "g" {
		t.Errorf("%+v", got)
	}
	if got := rankingVerdicts("g", results.Of(altered(kafka, "", func(r *store.Record) { r.Spec.Measure = "novel" })).Points)[0]; got.Finding != "No conclusion." {
		t.Errorf("of a measure without a headline: %+v", got)
	}
}

func TestNoMoreThanTwoSettingsSetWorkloadsApart(t *testing.T) {
	var records []store.Record
	for i, persistence := range []string{"log", "memory"} {
		records = append(records, altered(atRate("kafka", 1), fmt.Sprint(i), func(r *store.Record) {
			r.Spec.Measure, r.Spec.Load = "peak", study.Load{}
			r.Spec.Persistence, r.Spec.Replicas, r.Spec.Acks, r.Spec.Nodes = persistence, 1+2*i, []string{"leader", "quorum"}[i], 1+2*i
		})...)
	}
	text := textOf(rankingVerdicts("g", results.Of(records).Points))
	for _, want := range []string{"With persistence log, replicas 1, throughput, known only of kafka", "With persistence memory, replicas 3, throughput, known only of kafka"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "acks") {
		t.Errorf("more than two settings are named: %s", text)
	}
}

func TestAWholeLoadAsAnAxisSetsWorkloadsApart(t *testing.T) {
	var records []store.Record
	for _, broker := range []string{"kafka", "jetstream"} {
		for _, rate := range []float64{1000, 2000} {
			records = append(records, altered(atRate(broker, 4), fmt.Sprint(rate), func(r *store.Record) {
				r.Axes = map[string]string{"broker": broker, "load": fmt.Sprint("at ", rate)}
				r.Spec.Load.Rate = rate
			})...)
		}
	}
	text := textOf(rankingVerdicts("100 B", results.Of(records).Points))
	if strings.Count(text, "lowest e2e p99") != 2 || !strings.Contains(text, "At rate 1k/s") || !strings.Contains(text, "At rate 2k/s") {
		t.Errorf("rates are ranked against each other: %s", text)
	}
}
