package lab_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// curveOf is a short curve on sim at these rates.
func curveOf(length time.Duration, rates ...float64) study.Spec {
	return simSpec(func(s *study.Spec) {
		s.Measure, s.Curve, s.Duration = "curve", study.Curve{Rates: rates}, study.Duration(length)
	})
}

func pointDoubt(l store.CurvePoint, code string) string {
	i := slices.IndexFunc(l.Doubts, func(d store.Doubt) bool { return d.Code == code })
	if i < 0 {
		return ""
	}
	return l.Doubts[i].Text
}

func TestEveryRateOfACurveCountsItsOwnLosses(t *testing.T) {
	t.Parallel()
	rates := []float64{500, 4000, 2000}
	s := curveOf(400*time.Millisecond, rates...)
	s.Delivery, s.Acks, s.Client = "at-most-once", "none", map[string]any{"loss.every": 100}
	r := runCounts(t, s, lab.Options{})
	if len(r.Result.Curve) != len(rates) {
		t.Fatalf("%s: %s, %d levels", r.Status, r.Reason, len(r.Result.Curve))
	}
	for i, l := range r.Result.Curve {
		sent := int64(rates[i] * 0.4) // a whole number of hundreds, so the faults among them are known exactly
		b := l.Books
		if b.Sent != sent || b.Lost != sent/100 || b.Received != sent-sent/100 || b.Duplicated != 0 {
			t.Errorf("at %g/s of %d messages every 100th is lost: %+v", l.Rate, sent, b)
		}
		if got, want := pointDoubt(l, "loss"), fmt.Sprintf("%d of %d deliveries never came", sent/100, sent); got != want {
			t.Errorf("at %g/s the doubt is %q, want %q", l.Rate, got, want)
		}
		if pointDoubt(l, "in-process") == "" || len(l.Series) == 0 && l.Seconds > 1 || l.OfferedRate != l.Rate || l.Cost.Messages != b.Acked {
			t.Errorf("at %g/s: doubts %v, %d samples, offered %g/s, cost of %d messages", l.Rate, l.Doubts, len(l.Series), l.OfferedRate, l.Cost.Messages)
		}
	}
	if hasDoubt(r, "loss") {
		t.Errorf("the repetition repeats a level's doubt as its own: %v", r.Doubts)
	}

	s.Delivery, s.Acks, s.Client = "at-least-once", "leader", map[string]any{"duplicate.every": 50}
	r = runCounts(t, s, lab.Options{})
	if len(r.Result.Curve) != len(rates) {
		t.Fatalf("%s: %s, %d levels", r.Status, r.Reason, len(r.Result.Curve))
	}
	for i, l := range r.Result.Curve {
		sent := int64(rates[i] * 0.4)
		if b := l.Books; b.Sent != sent || b.Received != sent || b.Duplicated != sent/50 {
			t.Errorf("at %g/s of %d messages every 50th comes twice: %+v", l.Rate, sent, b)
		}
	}
}

func TestEachRateOfACurveAfterASearchHasItsOwnDoubts(t *testing.T) {
	s := curveOf(400 * time.Millisecond)
	s.Curve.Fractions = []float64{0.25, 0.5}
	s.Sustainable = study.Sustainable{
		Width: 0.2, Trial: study.Duration(300 * time.Millisecond), Confirm: study.Duration(1500 * time.Millisecond),
		Confirms: 1, Warmup: study.Duration(100 * time.Millisecond), MaxTrials: 30, Quantile: 0.99,
	}
	s.Client = map[string]any{"capacity": 1000}
	r := runPoint(t, s, lab.Options{})
	if r.Status == store.Void {
		testkit.Undecided(t, "nothing could be searched for on this machine now: %s", r.Reason)
	}
	if r.Result == nil || len(r.Result.Curve) != 2 {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	for _, l := range r.Result.Curve {
		if want := fmt.Sprintf("only %d latencies", l.Books.Received); l.Books.Received == 0 || !strings.HasPrefix(pointDoubt(l, "few-samples"), want) {
			t.Errorf("at %g/s: %v, want few-samples: %s…", l.Rate, l.Doubts, want)
		}
	}
}

func TestAnOverloadedRateDoesNotSpillIntoTheNext(t *testing.T) {
	testkit.NotShort(t)
	s := curveOf(time.Second, 1000, 4000, 1001)
	s.Client, s.Drain = map[string]any{"capacity": 2000}, study.Duration(300*time.Millisecond)
	r := runPoint(t, s, lab.Options{})
	if r.Result == nil || len(r.Result.Curve) != 3 {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	over, last := r.Result.Curve[1], r.Result.Curve[2]
	if over.Offered > last.Offered {
		t.Fatal("the seed draws another order")
	}
	if over.Status != store.Failed || !strings.Contains(over.Reason, "had not come within the drain allowance of 300ms") || pointDoubt(over, "late") == "" {
		t.Errorf("at twice the capacity: %s %q, doubts %v", over.Status, over.Reason, over.Doubts)
	}
	if b := over.Books; b.Lost != 0 || b.Received != b.Sent {
		t.Errorf("at twice the capacity what came after the allowance is not in the books: %+v", b)
	}
	checkNear(t, r, "received at twice the capacity", over.ReceiveRate, 2000, 0.05)
	if last.Status != store.OK || pointDoubt(last, "undrained") != "" {
		t.Errorf("at half of the capacity: %s %q, doubts %v", last.Status, last.Reason, last.Doubts)
	}
	if k := r.Result.Knee; k == nil || k.JumpedAt != 4000 {
		t.Errorf("the mean latency jumps at 4000/s, found: %+v", k)
	} else {
		checkNear(t, r, "before the knee", k.Rate, 1001, 0.01)
	}
	checkNear(t, r, "received at half of the capacity", last.ReceiveRate, 1001, 0.01)
	if p50 := last.Latency.EndToEnd.Quantile(0.5); p50 > int64(testkit.Within(100*time.Millisecond)) {
		t.Errorf("half of the messages waited %v for those of the level before", time.Duration(p50))
	}
}

func TestARateThatBeginsOnAnUndrainedBrokerIsVoid(t *testing.T) {
	if testkit.Racing {
		testkit.Without(t, "the race detector lets too little through for anything to be left over")
	}
	s := curveOf(300*time.Millisecond, 8000, 50)
	s.Client, s.Drain = map[string]any{"capacity": 400}, study.Duration(300*time.Millisecond)
	s.Seed = 2 // draws the overload first
	r := runPoint(t, s, lab.Options{})
	if r.Result == nil || len(r.Result.Curve) != 2 {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	if got := pointDoubt(r.Result.Curve[0], "undrained"); got != "" {
		t.Errorf("the first level: %q", got)
	}
	last := r.Result.Curve[1]
	if last.Offered != 3 {
		t.Errorf("the disturbed rate was load %d, want that it was offered once more", last.Offered)
	}
	if got := pointDoubt(last, "undrained"); last.Status != store.Void || !strings.HasPrefix(got, "the load before wasn't drained") ||
		!strings.Contains(last.Reason, "deliveries of the load before came during this one") {
		t.Errorf("%s %q, doubt %q: want void, since the level before came through it", last.Status, last.Reason, got)
	}
}

func TestARateThatFailedFailsOnlyItself(t *testing.T) {
	testkit.NotShort(t)
	s := curveOf(300*time.Millisecond, 500, 8000)
	s.Client = map[string]any{"capacity": 1000, "queue.limit": 50, "queue.full": "reject"}
	r := runPoint(t, s, lab.Options{})
	if r.Result == nil || len(r.Result.Curve) != 2 {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	fine, broken := r.Result.Curve[0], r.Result.Curve[1]
	if fine.Status != store.OK || broken.Status != store.Failed || !strings.Contains(broken.Reason, "sends failed") {
		t.Errorf("%s %q and %s %q, want ok and failed", fine.Status, fine.Reason, broken.Status, broken.Reason)
	}
	if r.Status != store.OK || len(r.Doubts) == 0 || r.Doubts[0].Code != "bad-levels" || !strings.HasPrefix(r.Doubts[0].Text, "1 of 2 loads failed or are void; at 8000/s: ") {
		t.Errorf("%s, first of %v: want bad-levels", r.Status, r.Doubts)
	}

	s.Curve.Rates = []float64{8000, 9000}
	if r := runPoint(t, s, lab.Options{}); r.Status != store.Failed || !strings.HasPrefix(r.Reason, "2 of 2 loads failed or are void; at 8000/s: ") {
		t.Errorf("%s %q, want failed since no level stands", r.Status, r.Reason)
	}
}
