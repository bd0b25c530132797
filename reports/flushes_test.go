package reports

import (
	"math"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

// flushed gives every broker's records so many flushes for each message; a broker that isn't named was not counted.
func flushed(perMessage map[string]float64) *results.Set {
	records := storetest.Demo()
	for i, r := range records {
		n, known := perMessage[r.Spec.Broker]
		if r.Result == nil || !known {
			continue
		}
		measured := *r.Result
		measured.Cost.BrokerFlushes = new(int64(n * float64(measured.Cost.Messages)))
		records[i].Result = &measured
	}
	return results.Of(records)
}

func TestFlushedIsNeverComparedWithUnflushedInSilence(t *testing.T) {
	for name, c := range map[string]struct {
		perMessage map[string]float64
		says       string
		shown      bool
	}{
		"each message against none": {map[string]float64{"kafka": 0, "rabbitmq": 0.5}, "Not alike: rabbitmq (0.500 flushes per message) flushed to the disk what they acknowledged, kafka left that", true},
		"housekeeping is none":      {map[string]float64{"kafka": 0.00001, "rabbitmq": 0.5}, "kafka left that to the operating system", true},
		"all do":                    {map[string]float64{"kafka": 0.01, "rabbitmq": 0.5}, "", true},
		"nobody does":               {map[string]float64{"kafka": 0, "rabbitmq": 0}, "", false},
		"one was not counted":       {map[string]float64{"rabbitmq": 0.5}, "", true},
		"none was counted":          {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := build(t, "headtohead", flushed(c.perMessage).Records)
			said, shown := "", false
			for _, b := range d.Blocks {
				switch b := b.(type) {
				case document.Paragraph:
					if strings.HasPrefix(b.Text, "Not alike") {
						said = b.Text
					}
				case document.Table:
					for _, column := range b.Columns {
						shown = shown || column.Key == results.KeyBrokerFlushes && !column.MachinesOnly
					}
				}
			}
			if g := HeadToHead(flushed(c.perMessage)).Groups[0]; g.Caution != said {
				t.Errorf("beside the charts stands %q, below the table %q", g.Caution, said)
			}
			if !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("says %q, want %q", said, c.says)
			}
			if shown != c.shown {
				t.Errorf("the column is shown: %t", shown)
			}
		})
	}
}

func TestFlushesAreThoseOfTheHighestRateOfACurveThatEndedOK(t *testing.T) {
	curveOf := func(broker string, flushes int64) store.Record {
		at := func(rate float64, status store.Status, flushes int64) store.CurvePoint {
			m := store.Measurement{PublishRate: rate, Cost: store.Cost{BrokerKnown: true, Messages: 1000, BrokerFlushes: &flushes}}
			return store.CurvePoint{Rate: rate, Status: status, Measurement: m}
		}
		r := store.Record{PointID: broker, Repetition: 1, Status: store.OK, Spec: study.Spec{Broker: broker, Measure: study.MeasureCurve}}
		void := at(2000, store.Void, 0) // the measurement of a curve is that of its last rate
		r.Result = &store.Result{Measurement: void.Measurement, Curve: []store.CurvePoint{at(1000, store.OK, flushes), void}}
		return r
	}
	said := unequalFlushes(results.Of([]store.Record{curveOf("kafka", 0), curveOf("rabbitmq", 1000)}).Points)
	if want := "rabbitmq (1 flushes per message) flushed"; !strings.Contains(said, want) {
		t.Errorf("says %q, want %q", said, want)
	}
}

func TestABrokersHousekeepingIsNoFlushOfWhatItAcknowledges(t *testing.T) {
	for name, c := range map[string]struct {
		perMessage, rate, seconds float64
		want                      bool
	}{
		"each by itself":              {1, 500, 0.001, true},
		"Kafka's checkpoints":         {0.013, 500, 0.005, false}, // seen: 26 of 2,000
		"five hundred at a time":      {0.002, 50_000, 0.01, true},
		"now and then at a high rate": {0.0001, 50_000, 0.01, false},
		"checkpoints in an overload":  {0.00256, 1905, 1.97, false}, // seen: Kafka, five a second
		"a flush after the other":     {0.0372, 2908, 0.78, true},   // seen: Artemis, overloaded as well
		"nobody acknowledges":         {0.1, 500, math.NaN(), false},
		"none":                        {0, 500, 0.001, false},
	} {
		if got := flushesFirst(c.perMessage, c.rate, c.seconds); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestFlushesThatWereNotCountedAreUnknown(t *testing.T) {
	r := storetest.Demo()[0]
	if flushedFiles(r) || flushedFiles(store.Record{}) {
		t.Error("flushes out of nothing")
	}
}
