package reports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// curvePaper is a paper that drew latency over load.
func curvePaper(t *testing.T, of string) Paper {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "paper")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(`name: paper
question: What does load cost?
source: A paper, 2018
description: As it was.
base: {measure: curve, OF, duration: 15s, broker: sim}
sweeps:
- name: one
  axes:
    messageSize: [100, 4000]
    when:
    - {name: then, set: {seed: 2}}
    - {name: now, set: {seed: 3}}
exhibits:
- {title: Figure 1, experiment: one, rows: rate, series: messageSize, columns: [{metric: throughput, unit: msg/s}, {metric: e2e_mean_ns, unit: ms}]}
`, "OF", of)
	for name, text := range map[string]string{"study.yaml": text, "claims.yaml": "claims: []\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := ReadPaper(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnExhibitCanHaveTheRatesOfACurveAsRows(t *testing.T) {
	for of, want := range map[string][]string{
		"curve.rates: [9000, 20000, 1000]":  {"1k/s", "9k/s", "20k/s"},
		"curve.fractions: [0.5, 0.05, 1.5]": {"5.00 % of sustainable", "50.0 % of sustainable", "150 % of sustainable"},
	} {
		p := curvePaper(t, of)
		var records []store.Record
		for _, g := range p.Grid {
			if g.Axes["when"] == "then" && g.Axes["messageSize"] != "100" {
				continue // one side has no curve of the larger messages
			}
			for repetition := range 2 {
				r := store.Record{ID: int64(len(records) + 1), Study: "paper", PointID: g.Spec.ID(), Axes: g.Axes, Repetition: repetition + 1, Status: store.OK, Spec: g.Spec, Result: &store.Result{}}
				found := 10_000 * float64(repetition+1) // each repetition has a sustainable rate of its own
				for _, rate := range g.Spec.Curve.Rates {
					r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: rate, Status: store.OK, Measurement: store.Measurement{PublishRate: rate, ReceiveRate: rate}})
				}
				for _, f := range g.Spec.Curve.Fractions {
					r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Fraction: f, Rate: f * found, Status: store.OK, Measurement: store.Measurement{PublishRate: f * found, ReceiveRate: f * found}})
				}
				if len(r.Result.Curve) > 2 && g.Axes["when"] == "now" { // the rate beyond what it can do
					last := slices.IndexFunc(r.Result.Curve, func(c store.CurvePoint) bool { return c.Rate == 20_000 || c.Fraction == 1.5 })
					r.Result.Curve[last].Status, r.Result.Curve[last].Reason = store.Failed, "lost"
				}
				records = append(records, r)
			}
		}
		table := tableUnder(t, Study(results.Of(records), p), "Figure 1")
		if table.Columns[0].Name != "rate" || table.Columns[1].Key != "messageSize" {
			t.Errorf("%s: columns %+v", of, table.Columns)
		}
		var at, sizes, now, then []string
		for _, row := range table.Rows {
			at, sizes = append(at, row["load.rate"].Text), append(sizes, row["messageSize"].Text)
			now, then = append(now, row["throughput_now"].Text), append(then, row["throughput_then"].Text)
		}
		if !slices.Equal(at, slices.Concat(want, want)) || !slices.Equal(sizes, []string{"100", "100", "100", "4kB", "4kB", "4kB"}) {
			t.Errorf("%s: rows at %q of %q", of, at, sizes)
		}
		if !slices.Equal(now, []string{"", "", "failed", "", "", "failed"}) || !slices.Equal(then, make([]string, 6)) {
			t.Errorf("%s: now %q, then %q", of, now, then)
		}
		if c := table.Rows[0]["throughput_then"]; c.Kind == document.Blank || c.Number < 500 || c.Number > 1000 {
			t.Errorf("%s: %+v", of, c)
		}
		if c := table.Rows[3]["throughput_then"]; c.Kind != document.Blank {
			t.Errorf("%s: what was not measured is %+v", of, c)
		}
	}
}

// Records of two scales are two points with one place. Whatever their order, the latest that ended ok is shown.
func TestOfTwoMeasurementsWithOnePlaceTheLatestOkIsShownAndTheOtherIsCounted(t *testing.T) {
	p := curvePaper(t, "curve.rates: [1000]")
	g := p.Grid[slices.IndexFunc(p.Grid, func(g study.Point) bool { return g.Axes["when"] == "now" })]
	measured := func(seconds int, began time.Time, status store.Status, rate float64) store.Record {
		spec := g.Spec
		spec.Duration = study.Duration(time.Duration(seconds) * time.Second)
		return store.Record{
			Study: "paper", PointID: spec.ID(), Axes: g.Axes, Repetition: 1, Status: status, Spec: spec, Began: began,
			Result: &store.Result{Curve: []store.CurvePoint{{Rate: 1000, Status: status, Measurement: store.Measurement{PublishRate: rate, ReceiveRate: rate}}}},
		}
	}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		other store.Record
		shown float64
	}{
		"an earlier one":          {measured(1, noon.Add(-time.Hour), store.OK, 900), 1000},
		"a later one":             {measured(1, noon.Add(time.Hour), store.OK, 900), 900},
		"a later one that failed": {measured(1, noon.Add(time.Hour), store.Failed, 900), 1000},
		"an earlier longer one":   {measured(99, noon.Add(-time.Hour), store.OK, 900), 1000},
	} {
		records := []store.Record{measured(15, noon, store.OK, 1000), c.other}
		for range 2 {
			slices.Reverse(records)
			d := Study(results.Of(records), p)
			if got := tableUnder(t, d, "Figure 1").Rows[0]["throughput_now"].Number; got != c.shown {
				t.Errorf("%s: %v is shown, want %v", name, got, c.shown)
			}
			const leftOut = "Left out: 1 measurement with the same place as another, such as those of another scale. The latest that ended ok is shown."
			if !slices.ContainsFunc(d.Blocks, func(b document.Block) bool { return b == document.Paragraph{Text: leftOut} }) {
				t.Errorf("%s: the report doesn't say that a measurement is left out", name)
			}
		}
	}
}

// tableUnder is the first table below a heading.
func tableUnder(t *testing.T, d document.Document, heading string) document.Table {
	t.Helper()
	under := false
	for _, b := range d.Blocks {
		if h, ok := b.(document.Heading); ok {
			under = under || h.Text == heading
		}
		if table, ok := b.(document.Table); ok && under {
			return table
		}
	}
	t.Fatalf("no table under %q", heading)
	return document.Table{}
}

func TestRatesAsRowsWantAnExperimentThatMeasuresCurves(t *testing.T) {
	dir := paperFolder(t)
	text := strings.Replace(paperStudy, "rows: partitionsPerTopic, series: mode", "rows: rate, series: mode", 1)
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPaper(dir); err == nil || !strings.Contains(err.Error(), `has no axis "load.rate"`) {
		t.Errorf("%v", err)
	}
}

// A table of a publication's counts must not hide what a failed repetition lost.
func TestAnExhibitCountsWhatAFailedRepetitionLost(t *testing.T) {
	records := altered(atRate("kafka", 3), "", func(r *store.Record) {
		if r.Repetition == 2 {
			r.Status, r.Result.Books.Lost = store.Failed, 3
		}
	})
	row := exhibitRow{loadPoints: map[string]results.LoadPoint{"now": results.Of(records).Points[0].AsLoadPoint()}}
	lost := exhibitColumn{metric: results.MustMetric(results.KeyLost), unit: ""}
	if cell := lost.cell(row, "now"); cell.Number != 3 {
		t.Errorf("%+v, want 3 lost", cell)
	}
}

func TestRatesInThePapersUnitKeepTheirDigits(t *testing.T) {
	row := exhibitRow{loadPoints: map[string]results.LoadPoint{"now": results.Of([]store.Record{{
		PointID: "a", Repetition: 1, Status: store.OK, Spec: study.Spec{Measure: study.MeasurePeak},
		Result: &store.Result{Measurement: store.Measurement{PublishRate: 1.3e6}},
	}}).Points[0].MeasuredLoads()[0]}}
	for unitName, want := range map[string]string{"": "1.30M/s", "M/s": "1.30", "k/s": "1300", "msg/s": "1 300 000"} {
		c := exhibitColumn{metric: results.MustMetric("publish_rate"), unit: unitName}
		if got := c.column().Unit.Format(c.cell(row, "now").Number); got != want {
			t.Errorf("in %q: %s, want %s", unitName, got, want)
		}
	}
}
