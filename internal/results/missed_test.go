package results

import (
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

// missing is a repetition at a rate that less came through at than was offered.
func missing(broker string, repetition int, texts ...string) store.Record {
	r := swept(broker, 100, 10, nil)
	r.Repetition = repetition
	r.Doubts = []store.Doubt{{Code: "shared-cores", Text: "else"}}
	for _, text := range texts {
		r.Doubts = append(r.Doubts, store.Doubt{Code: "rate-missed", Text: text})
	}
	return r
}

func TestMissedRatesOfARepetitionAreTwoAndTheirNumber(t *testing.T) {
	if got := Missed(missing("kafka", 1)); got != "" {
		t.Errorf("a kept schedule is told as %q", got)
	}
	if got := Missed(missing("kafka", 1, "9 of 10")); got != "9 of 10" {
		t.Errorf("got %q", got)
	}
	want := []string{
		"", "rate 1/s: 1 unsent", "rate 1/s: 1 unsent; rate 2/s: 2 unsent", "rate 1/s: 1 unsent; rate 2/s: 2 unsent; and 1 more rate",
		"rate 1/s: 1 unsent; rate 2/s: 2 unsent; and 2 more rates",
	}
	for n, text := range want {
		r := ofCurve(false)
		for i := 1; i <= n; i++ {
			r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: float64(i), Status: store.OK, Doubts: []store.Doubt{
				{Code: "late", Text: "else"}, {Code: "rate-missed", Text: fmt.Sprintf("%d unsent", i)},
			}})
		}
		if got := Missed(r); got != text {
			t.Errorf("%d rates are missed: %q, want %q", n, got, text)
		}
	}
}

func TestARateAboveTheSustainableOneIsMissedOnPurpose(t *testing.T) {
	missed := []store.Doubt{{Code: "rate-missed", Text: "1 unsent"}}
	for share, want := range map[float64]string{0.9: "90.0 % of sustainable: 1 unsent", 1: "100 % of sustainable: 1 unsent", 1.25: ""} {
		r := ofCurve(true)
		r.Result.Curve = []store.CurvePoint{{Rate: 100 * share, Fraction: share, Status: store.OK, Doubts: missed}}
		if got := Missed(r); got != want {
			t.Errorf("at %g of the sustainable rate: %q, want %q", share, got, want)
		}
	}
}

func TestPointsThatMissedTheirRateAreToldFiveAndTheirNumber(t *testing.T) {
	if got := MissedRates(pointsOf([]store.Record{missing("kafka", 1), missing("nats", 1)})); got != nil {
		t.Errorf("kept schedules are told: %v", got)
	}
	void := missing("kafka", 4, "of a void repetition")
	void.Status = store.Void
	some := pointsOf([]store.Record{missing("kafka", 1), missing("kafka", 2, "first"), missing("kafka", 3, "second"), void})
	want := "Not everything that was offered came through. kafka, 100 B, at-least-once, rate 10/s: first (2 of 3 repetitions missed it)."
	if got := MissedRates(some); len(got) != 1 || got[0].Finding != want || got[0].About != "Rate missed" {
		t.Errorf("got %+v, want %q", got, want)
	}
	const detail = "What was never sent, or never came, counts in the latencies as late as the end of the run."
	var records []store.Record
	for n := 1; n < 9; n++ {
		records = append(records, missing(fmt.Sprint("b", n), 1, fmt.Sprint("text ", n)))
		v := MissedRates(pointsOf(records))[0]
		for i := 1; i <= n; i++ {
			told := fmt.Sprintf("b%d, 100 B, at-least-once, rate 10/s: text %d.", i, i)
			if strings.Contains(v.Finding+v.Detail, told) != (i <= 5) {
				t.Errorf("of %d, number %d is told: %v: %+v", n, i, i > 5, v)
			}
		}
		if head := fmt.Sprintf("Not everything that was offered came through at %d points.", n); n > 1 && v.Finding != head {
			t.Errorf("of %d the finding is %q, want %q: a card's heading names no figures of five points", n, v.Finding, head)
		}
		want := detail
		if n > 5 {
			want = fmt.Sprintf("The same holds for %d more. %s", n-5, detail)
		}
		if !strings.HasSuffix(v.Detail, want) {
			t.Errorf("of %d: %q, want %q", n, v.Detail, want)
		}
	}
}

func TestAnEndingNeverHidesAMissedRate(t *testing.T) {
	kept, missed := missing("kafka", 1), missing("kafka", 2, "x")
	for want, records := range map[string][]store.Record{
		"ok": {kept, kept}, "ok, rate missed": {kept, missed}, "ok, rate missed ": {missed, kept}, "ok ": nil,
	} {
		if got := Ending("ok", records); got != strings.TrimSpace(want) {
			t.Errorf("%d records: %q, want %q", len(records), got, want)
		}
	}
}
