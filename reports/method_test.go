package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// both is a repetition at a rate whose messages all took so long, from when they were due and from when they were sent.
func both(id int64, rate, fromDue, fromSend float64, status store.Status) store.Record {
	all := func(ns float64) hist.Snapshot {
		h := hist.New()
		h.RecordN(int64(ns), 100)
		return h.Snapshot()
	}
	r := products[0].record(100, "at-least-once", rate, 1)
	r.ID, r.Status, r.Doubts = id, status, nil
	r.Result = &store.Result{Measurement: store.Measurement{Latency: store.Latency{EndToEnd: all(fromDue), EndToEndService: all(fromSend)}}}
	return r
}

// aPaper repeats a publication.
var aPaper = Paper{Study: &study.Study{Source: "A paper, 2018"}}

func sections(d document.Document) (headings, words []string) {
	for _, b := range d.Blocks {
		switch b := b.(type) {
		case document.Heading:
			headings = append(headings, b.Text)
		case document.Paragraph:
			words = append(words, b.Text)
		}
	}
	return headings, words
}

func TestWhatAnOlderMethodHidIsToldOfTheLoadWhereItHidMost(t *testing.T) {
	published := both(9, 7000, 9e9, 1e6, store.Published)
	published.Kind = store.KindPublished
	var d document.Document
	aPaper.addOlderMethods(&d, results.Of([]store.Record{
		both(1, 1000, 2e6, 2e6, store.OK), both(2, 2000, 10e6, 2e6, store.OK), both(3, 3000, 6e6, 2e6, store.OK),
		both(4, 4000, 400e6, 2e6, store.Void), both(5, 5000, 400e6, 2e6, store.Failed), both(6, 6000, 10e6, 0, store.OK), published,
	}))
	headings, words := sections(d)
	if !slices.Equal(headings, []string{"What the older method hid"}) || len(words) != 1 || !strings.Contains(words[0], "more than 1.10×") {
		t.Errorf("%q %q", headings, words)
	}
	table := d.Tables()[0]
	if len(table.Rows) != 2 { // no other older figure is known
		t.Fatalf("%d rows", len(table.Rows))
	}
	for i, way := range []string{"mean from the send (can hide every wait before the send)", "p99 from the send (can hide every wait before the send)"} {
		row := table.Rows[i]
		if row["way"].Text != way || !strings.HasSuffix(row["point"].Text, "rate 2k/s") {
			t.Errorf("row %d is %q at %q, want %q", i, row["way"].Text, row["point"].Text, way)
		}
		if ratio := row["ratio"].Number; ratio < 4.97 || ratio > 5.03 || row["differ"].Number != 2 || row["loads"].Number != 3 {
			t.Errorf("%s: %g times, at %g of %g loads; want 5, 2 of 3", way, ratio, row["differ"].Number, row["loads"].Number)
		}
		if theirs, ours := row["theirs"].Number, row["ours"].Number; theirs > ours || ours < 9.9e6 || ours > 10.1e6 {
			t.Errorf("%s: theirs %g ns, ours %g ns", way, theirs, ours)
		}
	}
}

func TestOlderMethodsAreOnlySpokenOfWhereTheyMatter(t *testing.T) {
	flatOut := func(status store.Status, kind string) store.Record {
		r := products[0].record(100, "at-least-once", 1000, 1)
		r.Spec.Measure, r.Result, r.Status, r.Kind = "peak", &store.Result{Measurement: store.Measurement{PublishRate: 5}}, status, kind
		return r
	}
	rate := products[0].record(100, "at-least-once", 1000, 1)
	rate.Result = &store.Result{Measurement: store.Measurement{PublishRate: 5}}
	for name, c := range map[string]struct {
		record store.Record
		want   bool
	}{
		"a rate without older figures": {rate, false},
		"flat out":                     {flatOut(store.OK, ""), true},
		"flat out in the paper":        {flatOut(store.Published, store.KindPublished), false},
	} {
		var d document.Document
		aPaper.addOlderMethods(&d, results.Of([]store.Record{c.record}))
		headings, words := sections(d)
		if got := len(headings) == 1 && len(words) == 1 && strings.Contains(words[0], "closed loop"); got != c.want || !c.want && d.Blocks != nil || len(d.Tables()) != 0 {
			t.Errorf("%s: %+v", name, d.Blocks)
		}
	}
}

func TestRowsThatOnlyThePaperHasAreLeftOutOnceAnythingWasMeasured(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	for rows, rates := range map[int]map[string]map[string][]float64{
		3: {}, 1: {"now": {"25": {900}}}, 2: {"now": {"25": {900}}, "then": {"50": {800}}},
	} {
		beside := results.Of(append(slices.Clone(p.Figures), rerun(t, p, rates)...))
		x := p.fillExhibit(p.Study.Exhibits[0], beside)
		if len(x.rows) != rows || x.leftOut != 3-rows {
			t.Errorf("measured %v: %d rows, %d left out", rates, len(x.rows), x.leftOut)
		}
	}
}

func TestFixedRatesOfASideAreInOrderAndThoseMadeForARateComeFirst(t *testing.T) {
	curve := products[0].record(100, "at-least-once", 0, 1)
	curve.Spec.Measure, curve.Status, curve.Doubts = "curve", store.OK, nil
	curve.Result = &store.Result{}
	for _, rate := range []float64{30_000, 500, 20_000} {
		curve.Result.Curve = append(curve.Result.Curve, store.CurvePoint{Rate: rate, Status: store.OK, Measurement: store.Measurement{PublishRate: rate}})
	}
	fixed := both(2, 20_000, 1e6, 1e6, store.OK)
	set := results.Of([]store.Record{curve, fixed, both(3, 100, 1e6, 1e6, store.Void)})
	var got []float64
	for _, l := range fixedLoadPoints(set.Points) {
		got = append(got, l.Rate)
		if l.Rate == 20_000 && l.Records[0].Spec.Measure != "rate" {
			t.Error("the curve's 20,000/s stands for the point made for it")
		}
	}
	if !slices.Equal(got, []float64{500, 20_000, 30_000}) {
		t.Errorf("rates %v", got)
	}
}

func TestRowsOfAHeadToHeadAreInTheOrderOfTheirNamesWhateverWasMeasuredOfThem(t *testing.T) {
	var records []store.Record
	for i, broker := range []string{"redis", "kafka", "nats"} { // points are in the order of their measures first
		records = append(records, altered(atRate("kafka", 1), broker, func(r *store.Record) {
			r.Spec.Broker, r.Axes["broker"], r.Spec.Measure = broker, broker, []string{"peak", "rate", "count"}[i]
		})...)
	}
	d := build(t, "headtohead", records)
	if got, want := column(d, 0, "broker"), []string{"kafka", "nats", "redis"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}
