package sheet

import (
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

// The version 3.10 came after 3.9, and isn't 3.1.
func TestAnAxisWhoseValuesANumberWouldChangeHoldsWords(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		words  bool
	}{
		"numbers":              {[]string{"1", "2.5", "1000000", "-3"}, false},
		"versions":             {[]string{"3.9", "3.10"}, true},
		"leading zeros":        {[]string{"7", "007"}, true},
		"an exponent":          {[]string{"1e3", "10"}, true},
		"words":                {[]string{"zstd", "1"}, true},
		"no number":            {[]string{"NaN", "Inf"}, true},
		"unset for some point": {[]string{"5", ""}, false},
	} {
		var points []results.Point
		for _, v := range c.values {
			points = append(points, results.Point{Records: []store.Record{{Axes: map[string]string{"axis": v}}}})
		}
		column := axisColumn("axis", points)
		for i, p := range points {
			got := column.value(loadRow{LoadPoint: results.LoadPoint{Point: p}})
			if text, ok := got.(string); ok != c.words && c.values[i] != "" || ok && text != c.values[i] {
				t.Errorf("%s: %q became %v", name, c.values[i], got)
			}
		}
	}
}

func TestACurveHasItsLatenciesInTheSheet(t *testing.T) {
	rows := loadRowsOf(results.Of(curveOf(t)).Points)
	if !rows[0].Used() {
		t.Fatal("no usable row")
	}
	for _, l := range rows {
		if !l.Used() {
			continue
		}
		if d := l.distributions["e2e"]; d.N == 0 || d.RowTitle != l.RowTitle {
			t.Errorf("%s has the latencies of %q over %d repetitions", l.RowTitle, d.RowTitle, d.N)
		}
	}
}

func curveOf(t *testing.T) []store.Record {
	t.Helper()
	var records []store.Record
	for _, r := range storetest.Demo() {
		if r.Spec.Measure == "curve" && r.Status == store.OK {
			records = append(records, r)
		}
	}
	return records
}

// The counts of a row are those of all repetitions, so its status tells of those that failed.
func TestARowTellsOfItsRepetitionsThatFailed(t *testing.T) {
	rate := store.Record{PointID: "rate", Status: store.OK, Result: &store.Result{}}
	rate.Spec.Measure = study.MeasureRate
	at := func(status store.Status) store.CurvePoint {
		p := store.CurvePoint{Rate: 1000, Status: status, Measurement: store.Measurement{Books: store.Books{Sent: 10}}}
		if status == store.Failed {
			p.Reason = "3 lost"
		}
		return p
	}
	curve := func(repetition int, status store.Status) store.Record {
		r := store.Record{PointID: "curve", Repetition: repetition, Status: store.OK, Result: &store.Result{Curve: []store.CurvePoint{at(status)}}}
		r.Spec.Measure = study.MeasureCurve
		return r
	}
	again := rate
	again.Repetition = 3
	failed := rate
	failed.Repetition, failed.Status, failed.Reason = 1, store.Failed, "3 lost"
	for name, records := range map[string][]store.Record{
		"a rate":  {rate, again, failed},
		"a curve": {curve(1, store.OK), curve(2, store.Failed), curve(3, store.OK)},
	} {
		l := loadRowsOf(results.Of(records).Points)[0]
		if got, want := fmt.Sprintf("%v (%v)", l.status, l.reason), "failed 1 of 3, ok 2 of 3 (3 lost)"; got != want || len(l.Records) != 2 {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// A search in which no rate failed says that its limit is above all that it tried. Left out of the median, it would make the limit lower: the
// row would say that a rate fails below the one that passes.
func TestARateAtWhichNoSearchFailedIsNoLowerLimit(t *testing.T) {
	search := func(low, high float64) store.Record {
		r := store.Record{PointID: "search", Status: store.OK, Result: &store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: low, High: high}}}
		r.Spec.Measure = study.MeasureSustainable
		return r
	}
	for name, c := range map[string]struct {
		records []store.Record
		want    any
	}{
		"all failed":       {[]store.Record{search(40, 60), search(41, 62), search(42, 64)}, 62.0},
		"the most failed":  {[]store.Record{search(40, 60), search(41, 62), search(90, 0)}, 62.0},
		"the most did not": {[]store.Record{search(40, 60), search(90, 0), search(90, 0)}, nil},
		"half did not":     {[]store.Record{search(40, 60), search(90, 0)}, nil},
		"none passed":      {[]store.Record{search(0, 60)}, 60.0},
		"nothing is known": {[]store.Record{search(0, 0), search(40, 60)}, 60.0},
	} {
		for i := range c.records {
			c.records[i].Repetition = i + 1
		}
		l := loadRowsOf(results.Of(c.records).Points)[0]
		if got := figureColumns[figureIndex("fails at")].value(l); got != c.want {
			t.Errorf("%s: fails at %v, want %v", name, got, c.want)
		}
	}
}
