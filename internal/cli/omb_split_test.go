package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/exchange"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A curve measures several loads, and each ended in its own way: the record's own figures are those of the last rate alone.
func TestEachRateOfACurveIsAResultOfOMB(t *testing.T) {
	at := func(rate float64, status store.Status) store.CurvePoint {
		return store.CurvePoint{Rate: rate, Status: status, Reason: strings.Repeat("late", int(rate/2000)), Measurement: store.Measurement{
			Seconds: 2, PublishRate: rate, Books: store.Books{Sent: int64(2 * rate)},
		}}
	}
	last := at(2000, store.Void)
	curve := store.Record{
		ID: 7, PointID: "p", Label: "curved", Repetition: 1, Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: study.MeasureCurve},
		Result: &store.Result{Measurement: last.Measurement, Curve: []store.CurvePoint{at(1000, store.OK), last}},
	}
	rate := curve
	rate.ID, rate.Spec.Measure = 8, study.MeasureRate
	rate.Result = &store.Result{Measurement: last.Measurement}
	files, err := splitOMB([]store.Record{curve, rate}, results.LatencyKind{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var got []string
	for _, f := range files {
		names[f.name] = true
		var written bytes.Buffer
		if err := f.write(&written); err != nil {
			t.Fatal(err)
		}
		var o exchange.OMB
		if err := json.Unmarshal(written.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		got = append(got, o.Workload+" "+results.RateText(o.PublishRate[0])+" "+string(o.Brokermark.Status))
	}
	if want := "curved curve 1k/s 1k/s ok, curved curve 2k/s 2k/s void, curved 2k/s ok"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, ", "), want)
	}
	if len(names) != len(files) {
		t.Errorf("names %v", names)
	}
}
