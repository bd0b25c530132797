package reports

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// curved is a curve after a search: nothing is lost at the first rate, 5 of 5,000 at the second; the third is missed.
func curved(repetition int) store.Record {
	p := products[1]
	r := p.record(100, "at-least-once", 0, repetition)
	r.Spec.Measure, r.PointID = "curve", "curve"
	r.Result.Sustainable.Low = 10_000
	late := hist.New()
	late.Record(2e6)
	for i, rate := range []float64{1000, 5000, 9000} {
		at := p.result(100, rate, repetition).Measurement
		at.Pauses = &store.Pauses{Late: late.Snapshot(), LongestNs: 3e6}
		due := at.Books.Sent
		at.Books.Due = due
		l := store.CurvePoint{Rate: rate, Fraction: rate / 10_000, Status: store.OK, Doubts: r.Doubts[:1:1]}
		switch i {
		case 1:
			at.Books.Lost, at.Books.Received = 5, at.Books.Sent-5
			l.Doubts = append(l.Doubts, store.Doubt{Code: "loss", Text: fmt.Sprintf("5 of %d deliveries never came", at.Books.Sent)})
			at.Streams = []store.Stream{{Topic: "0", Subscription: "s0", Books: at.Books, LostRanges: [][2]int64{{3, 7}}}}
		case 2:
			at.Books.Sent, at.Books.Unsent, at.PublishRate = 30_000, 60_000, 3000
			at.Books.Acked, at.Books.Expected, at.Books.Received = 30_000, 30_000, 30_000
			l.Doubts = append([]store.Doubt{{Code: "rate-missed", Text: "60000 of 90000 messages due were never sent; 3000/s of 9000/s came through"}}, l.Doubts...)
		}
		l.Measurement = at
		r.Result.Curve = append(r.Result.Curve, l)
	}
	return r
}

func TestACurveHasARowForEveryRateWithItsOwnBooks(t *testing.T) {
	records := []store.Record{curved(1), curved(2)}
	lines := strings.TrimSpace(string(rendered(t, build(t, "summary", records), "csv", 0)))
	rows, err := csv.NewReader(strings.NewReader(lines)).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v; want the heads, the search and three rates:\n%s", len(rows), err, lines)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	for i, want := range []map[string]string{
		{"load": "curve, searched", "status": "ok", "lost": "0", "unsent": "0", "sustainable": "10000", "doubts": "", "pause_p99_ns": ""},
		{"load": "curve 10.0 %", "status": "ok", "lost": "0", "due": "20000", "unsent": "0", "sustainable": "", "doubts": "", "n": "2"},
		{"load": "curve 50.0 %", "status": "ok", "lost": "10", "due": "100000", "unsent": "0", "doubts": "not everything came", "notes": "not everything came: 5 of 50000 deliveries never came (rabbitmq, curve 50.0 %)"},
		{"load": "curve 90.0 %", "status": "ok, rate missed", "lost": "0", "due": "180000", "unsent": "120000", "publish_rate": "3000", "offered_rate": "9000", "pause_max_ns": "3000000"},
	} {
		for key, value := range want {
			if got := rows[i+1][at[key]]; got != value {
				t.Errorf("row %d, %s: %q, want %q", i+1, key, got, value)
			}
		}
	}
	golden(t, "curve.txt", rendered(t, build(t, "summary", records), "terminal", 100))
	golden(t, "curve.md", rendered(t, build(t, "summary", records), "markdown", 0))
	golden(t, "curve-ledger.txt", rendered(t, build(t, "ledger", records[:1]), "terminal", 100))
}

// inVain is a repetition that missed its rate.
func inVain() store.Record {
	r := products[0].record(100, "at-least-once", 3000, 1)
	r.Result.Books.Due, r.Result.Books.Unsent, r.Result.PublishRate = 12_000, 8000, 1022
	r.Doubts = []store.Doubt{{Code: "rate-missed", Text: "8000 of 12000 messages due were never sent; 1022/s of 3000/s came through"}}
	return r
}

func TestARunThatMissedItsRateSaysSoFirst(t *testing.T) {
	const said = "8000 of 12000 messages due were never sent; 1022/s of 3000/s came through"
	for _, name := range []string{"summary", "ledger"} {
		for _, format := range []string{"terminal", "markdown"} {
			text := string(rendered(t, build(t, name, []store.Record{inVain()}), format, 200))
			for line := range strings.Lines(text) {
				if strings.Contains(line, "rate 3k/s") && strings.Contains(line, "ok") && !strings.Contains(line, "ok, rate missed") {
					t.Errorf("%s, %s: a bare ok in %q", name, format, line)
				}
			}
			text = strings.Join(strings.Fields(text), " ")
			if name == "summary" && (!strings.Contains(text, said) || strings.Index(text, said) > strings.Index(text, "Verdict")) {
				t.Errorf("%s doesn't say first that the rate was missed:\n%s", format, text)
			}
		}
	}
	kept := products[1].record(100, "at-least-once", 3000, 1)
	d := Compare(Side{"now", results.Of([]store.Record{inVain()})}, Side{"then", results.Of([]store.Record{kept})}, "broker")
	if text := strings.Join(strings.Fields(string(rendered(t, d, "terminal", 200))), " "); !strings.Contains(text, "now: Not everything that was offered came through. kafka, 100 B, at-least-once, rate 3k/s: "+said) || strings.Contains(text, "then: Not everything") {
		t.Errorf("a comparison doesn't say which side missed its rate:\n%s", text)
	}
	if got := results.Missed(inVain()); got != said {
		t.Errorf("%q", got)
	}
	if got := results.Missed(curved(1)); got != "90.0 % of sustainable: 60000 of 90000 messages due were never sent; 3000/s of 9000/s came through" {
		t.Errorf("of a curve: %q", got)
	}
}

func TestOlderCurvesHaveNoInventedBooks(t *testing.T) {
	r := curved(1)
	for i := range r.Result.Curve {
		l := &r.Result.Curve[i]
		l.Books, l.Doubts, l.Streams, l.Pauses = store.Books{}, nil, nil, nil
	}
	text := string(rendered(t, build(t, "summary", []store.Record{r}), "csv", 0))
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, row := range rows[2:] {
		for i, name := range rows[0] {
			if (name == "lost" || name == "duplicated" || name == "unsent" || name == "due") && row[i] != "" {
				t.Errorf("%s of %s is %q, and nobody counted it", name, row[4], row[i])
			}
		}
	}
	if text := string(rendered(t, build(t, "ledger", []store.Record{r}), "terminal", 200)); strings.Contains(text, "of sustainable") {
		t.Errorf("books that were not kept:\n%s", text)
	}
}

// What a repetition lost that failed at every rate of its curve is shown, though others ended ok.
func TestTheRatesOfAFailedRepetitionHaveRows(t *testing.T) {
	records := []store.Record{curved(1), curved(2)}
	records[1].Status, records[1].Reason = store.Failed, "7 messages were lost"
	for i := range records[1].Result.Curve {
		c := &records[1].Result.Curve[i]
		c.Status, c.Reason = store.Failed, "7 messages were lost"
		c.Books.Lost, c.Books.LostAcked = 7, 7
	}
	rows := build(t, "summary", records).Tables()[0].Rows
	failed := 0
	for _, row := range rows {
		if strings.HasPrefix(row["status"].Text, "failed") && strings.HasPrefix(row["load"].Text, "curve ") && row["lost"].Number == 7 {
			failed++
		}
	}
	if failed != len(records[1].Result.Curve) {
		t.Errorf("%d of %d rates that failed have a row: %+v", failed, len(records[1].Result.Curve), rows)
	}
}
