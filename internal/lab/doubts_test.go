package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestMessagesEarlierThanTheClockBoundVoidATrial(t *testing.T) {
	for _, c := range []struct {
		by, bound int64
		void      bool
	}{{0, 0, false}, {0, 1000, false}, {1000, 1000, false}, {1001, 1000, true}, {1, 0, true}} {
		one := trial{Outcome: worker.Outcome{ClockBound: c.bound, Early: measure.Early{Deliveries: min(1, c.by), By: c.by}}}
		err := (&bench{lab: &lab{}, record: &store.Record{}}).judge(one, noRate) // nothing was sent: else that is what it says
		var j errJudged
		if !errors.As(err, &j) || (j.status == store.Void) != c.void {
			t.Errorf("%d ns early within %d: %v", c.by, c.bound, err)
		}
		if c.void && (len(j.why.Figures) != 2 || j.why.Figures[0].Value != float64(c.by) || j.why.Figures[1].Value != float64(c.bound)) {
			t.Errorf("%+v", j.why)
		}
	}
}

func TestTheBoundOfTheClocksIsADoubt(t *testing.T) {
	var d doubts
	doubtClocks(trial{}, &d)
	if len(d) != 0 {
		t.Errorf("on one host: %+v", d)
	}
	doubtClocks(trial{Outcome: worker.Outcome{ClockBound: 12_500, Early: measure.Early{Deliveries: 3, By: 7}}}, &d)
	if len(d) != 1 || d[0].Code != "clock-bound" || !strings.Contains(d[0].Text, "±12.5µs") || !strings.Contains(d[0].Text, "and 3 deliveries") {
		t.Errorf("%+v", d)
	}
	d = nil
	doubtClocks(trial{Outcome: worker.Outcome{ClockBound: 12_500, Unordered: 2}}, &d)
	if len(d) != 2 || d[0].Code != "order-unknown" || !strings.HasSuffix(d[1].Text, "before they were sent") {
		t.Errorf("%+v", d)
	}
}

func TestFewLatenciesOfPublishingAreADoubtIfNobodySubscribes(t *testing.T) {
	h := hist.New()
	h.Record(1e6)
	b := &bench{lab: &lab{}, spec: study.Defaults(), record: &store.Record{}}
	b.spec.SubscriptionsPerTopic = 0
	found := b.doubtsAbout(trial{Outcome: worker.Outcome{Histograms: measure.Histograms{Publish: h.Snapshot()}}})
	if !slices.ContainsFunc(found, func(d store.Doubt) bool { return d.Code == "few-samples" }) {
		t.Errorf("%+v", found)
	}
}

func TestFewLatenciesAreDoubtedFromTheQuantileThatASingleMessageDecides(t *testing.T) {
	for _, n := range []int64{0, 1000} {
		var d doubts
		if doubtFewLatencies(n, &d); len(d) > 0 {
			t.Errorf("%d latencies: %s", n, d[0].Text)
		}
	}
	for n, want := range map[int64]string{
		1:   "only one latency was measured: every quantile is that of a single message",
		9:   "only 9 latencies were measured: p90 and what lies above it rest on single messages",
		10:  "only 10 latencies were measured: p95 and what lies above it rest on single messages",
		19:  "only 19 latencies were measured: p95 and what lies above it rest on single messages",
		50:  "only 50 latencies were measured: p99 and what lies above it rest on single messages",
		100: "only 100 latencies were measured: p99.9 and what lies above it rest on single messages",
		999: "only 999 latencies were measured: p99.9 and what lies above it rest on single messages",
	} {
		var d doubts
		doubtFewLatencies(n, &d)
		if d[0].Text != want {
			t.Errorf("%d: %s, want %s", n, d[0].Text, want)
		}
		for _, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			if touched := float64(n)*(1-q) < 1-1e-9; touched != slices.Contains(d[0].Quantiles, q) {
				t.Errorf("%d: %v, of which %v is: %t", n, d[0].Quantiles, q, touched)
			}
		}
	}
}

func TestWhatAQueueLimitDroppedInTheWarmUpIsNoFault(t *testing.T) {
	var d doubts
	warmup := measure.Books{Sent: 9, Acked: 9, Expected: 9, Received: 4, Lost: 5, LostAcked: 5, MayDrop: 9, Corrupted: 1}
	new(bench).doubtBooks(trial{Outcome: worker.Outcome{Warmup: warmup}}, &d)
	if want := "in warm-up 0 confirmed messages were lost and 1 corrupted"; len(d) != 1 || d[0].Text != want {
		t.Errorf("%+v, want %q", d, want)
	}
}
