package results

import (
	"fmt"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A spec may ask for a million repetitions, and a stranger's store may hold as many.
func TestManyRepetitionsOfAPointAreTakenInTime(t *testing.T) {
	var records []store.Record
	for i := range 100_000 {
		records = append(records, store.Record{PointID: "p", Repetition: i + 1, Status: store.Aborted})
	}
	began := time.Now()
	if p := Of(records).Points[0]; len(p.Records) != len(records) || time.Since(began) > 20*time.Second {
		t.Errorf("%d of %d repetitions after %s", len(p.Records), len(records), time.Since(began))
	}
}

// Each rate of a curve has the doubts of its repetition: a stranger's record must not have many of both.
func TestManyDoubtsAboutManyRatesAreListedInTime(t *testing.T) {
	r := store.Record{PointID: "a", Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "curve"}, Result: &store.Result{}}
	for i := range 10_000 {
		r.Doubts = append(r.Doubts, store.Doubt{Code: fmt.Sprint("c", i), Text: "1"})
	}
	for i := range 2000 {
		r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: float64(i + 1), Status: store.OK})
	}
	began := time.Now()
	for _, l := range Loads(r) {
		if n := len(l.Record.Doubts); n > mostCodes && l.Rate > 0 {
			t.Fatalf("a rate has %d doubts", n)
		}
	}
	if n := len(findingsOf(r)); n != len(r.Doubts) {
		t.Errorf("%d findings", n)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// What the axes of a report's points name is left out of the work of each: a stranger's records must not have many of both.
func TestTheWorkOfManyPointsApartFromManyAxesIsToldInTime(t *testing.T) {
	var axes []string
	for i := range 20_000 {
		axes = append(axes, fmt.Sprint("a", i))
	}
	p := Of([]store.Record{{PointID: "p", Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak", Client: map[string]any{"a": 1, "b": 2}}}}).Points[0]
	began := time.Now()
	for range 1000 {
		p.Workload(append(axes, "client.a")...)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
