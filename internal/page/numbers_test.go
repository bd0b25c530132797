package page_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// stored puts records through a real store.
func stored(t *testing.T, records []store.Record) []store.Record {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "records.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, r := range records {
		if _, err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	back, err := s.Records(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// shown are the records of a point whose figures stand in tables.
func shown(records []store.Record, id string) []store.Record {
	for _, status := range []store.Status{store.OK, store.Failed, store.Void} {
		var out []store.Record
		for _, r := range records {
			if r.PointID == id && r.Status == status {
				out = append(out, r)
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}

type figure struct{ Point, Load, Key, Value, Text string }

// atRate are records cut down to one rate of their curve, by its row's name; ok says how it ended.
func atRate(records []store.Record, load string, ok bool) []store.Record {
	var out []store.Record
	for _, r := range records {
		for _, c := range r.Result.Curve {
			if results.CurveLoad(c) == load && (c.Status == store.OK) == ok {
				out = append(out, store.Record{Spec: r.Spec, Result: &store.Result{Measurement: c.Measurement}})
			}
		}
	}
	return out
}

func TestTheTablesHoldTheStoresNumbers(t *testing.T) {
	records := stored(t, sweep(5))
	b := open(t, summary(t, "numbers", records), desktop)
	figures := browsertest.Eval[[]figure](t, b, `[...document.querySelectorAll("tr[data-point-id] [data-value]")].map(c => ({
		Point: c.parentElement.dataset.pointId, Load: c.parentElement.dataset.pointId.includes("curve") ? c.parentElement.cells[1]?.innerText ?? "" : "", Key: c.dataset.key, Value: c.dataset.value, Text: c.innerText }))`)
	compared, rates := 0, map[string]bool{}
	for _, f := range figures {
		m, err := results.MetricByKey(f.Key)
		if err != nil || f.Key == "lost" || f.Key == "duplicated" { // sums over repetitions, compared in package reports
			continue
		}
		of := shown(records, f.Point)
		if strings.HasPrefix(f.Load, "curve ") {
			of = atRate(of, f.Load, !strings.HasPrefix(f.Text, "("))
			rates[f.Point+f.Load] = true
		}
		values := m.Values(of)
		want := median(values)
		got, err := strconv.ParseFloat(f.Value, 64)
		if err != nil || math.Abs(got-want) > want*1e-14 { // the page has 15 digits
			t.Errorf("%s of %s: the page holds %s, the store %v", f.Key, f.Point, f.Value, want)
		}
		if text := m.Unit.Format(want); strings.Trim(f.Text, "()") != text {
			t.Errorf("%s of %s: the page shows %q, want %q", f.Key, f.Point, f.Text, text)
		}
		compared++
	}
	if want := 28 * 6; compared < want || len(rates) < 14*5 { // points that ran × metrics; curves × rates
		t.Errorf("%d figures compared, want at least %d; %d rates of curves", compared, want, len(rates))
	}
	b.Quiet(t)
}

// median is the textbook one.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := append([]float64(nil), values...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func TestTheChartsHoldTheStoresNumbers(t *testing.T) {
	records := stored(t, sweep(5))
	b := open(t, summary(t, "numbers", records), desktop)
	browsertest.Eval[bool](t, b, `(document.querySelector("#throughput details").open = true)`)
	setting := browsertest.Eval[string](t, b, `document.querySelector("#throughput select").value`)
	rows := browsertest.Eval[[][]string](t, b, `new Promise(r => setTimeout(() => r([...document.querySelectorAll("#throughput details tbody tr")].map(tr => [...tr.children].map(c => c.innerText))), 200))`)
	var shown []results.Point
	for _, g := range results.BySetting(results.Of(records).Points) {
		if results.Title(g.Members) == setting {
			shown = g.Members
		}
	}
	compared := 0
	for _, row := range rows { // who, load, status, offered, published, latency, remarks
		if row[1] != "sustainable" {
			continue
		}
		for _, p := range shown {
			if p.Name != row[0] || p.Spec.Measure != "curve" {
				continue
			}
			var rates, latencies []float64
			for _, r := range p.Ok() {
				rates = append(rates, r.Result.PublishRate)
				latencies = append(latencies, float64(r.Result.Latency.EndToEnd.Quantile(0.99)))
			}
			rate, latency := results.Summarize(rates), results.Summarize(latencies)
			if want := fmt.Sprintf("%s [%s], n = %d", unit.PerSecond.Format(rate.Median), unit.PerSecond.Range(rate.Low, rate.High), rate.N); row[4] != want {
				t.Errorf("%s published %q, the store has %q", row[0], row[4], want)
			}
			if want := fmt.Sprintf("%s [%s], n = %d", unit.Nanoseconds.Format(latency.Median), unit.Nanoseconds.Range(latency.Low, latency.High), latency.N); row[5] != want {
				t.Errorf("%s p99 %q, the store has %q", row[0], row[5], want)
			}
			compared++
		}
	}
	if compared != len(products) {
		t.Errorf("%d contenders compared, want %d; rows: %q", compared, len(products), rows)
	}
	b.Quiet(t)
}

func TestNumbersReadTheSameInTablesAndCharts(t *testing.T) {
	b := open(t, summary(t, "single", sweep(1)[:1]), desktop)
	units := map[string]unit.Unit{
		"ns": unit.Nanoseconds, "per-second": unit.PerSecond, "bytes": unit.Bytes, "s": unit.Seconds, "cpu-s": unit.CPUSeconds,
		"share": unit.Share, "factor": unit.Factor, "none": unit.None, "count": unit.Count,
	}
	values := []float64{0, 1e-7, 0.00012345, 0.005, 0.05, 0.999, 1, 1.005, 7, 9.995, 12.34, 99.95, 100, 999.4, 999.6, 1000, 1023, 1024, 12_345, 54_321.5, 999_499, 999_600, 1e6, 2.5e7, 1e9, 3e12, -5, -1234}
	for name, unit := range units {
		for _, v := range values {
			if got, want := browsertest.Eval[string](t, b, fmt.Sprintf("brokermark.format(%q, %v)", name, v)), unit.Format(v); got != want {
				t.Errorf("%v in %s: charts say %q, tables %q", v, name, got, want)
			}
		}
	}
}
