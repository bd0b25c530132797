package lab_test

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// atMostOnce makes a spec whose broker confirms nothing, so that only deliveries say what came through.
func atMostOnce(s *study.Spec, rate float64, length, drain time.Duration) {
	setRate(s, rate, length)
	s.Delivery, s.Acks = "at-most-once", "none"
	s.Drain = study.Duration(drain)
}

func TestARateThatIsHandedOverButDoesNotComeThroughIsMissed(t *testing.T) {
	t.Parallel()
	r := runUndisturbed(t, func(s *study.Spec) {
		atMostOnce(s, 1500, 3*time.Second, 5*time.Second)
		s.Client = map[string]any{"capacity": 1000}
	})
	if r.Status != store.OK || !hasDoubt(r, doubt.RateMissed.Code()) {
		t.Errorf("%s: %v; two thirds of what was offered came through in time", r.Status, r.Doubts)
	}
	checkNear(t, r, "throughput", results.MustMetric(results.KeyThroughput).Of(r), 1000, 0.05)
}

// latencyOf is a quantile of the end-to-end latency, ns, as reports show it.
func latencyOf(r store.Record, key string) results.Summary {
	return results.MustMetric(key).Over([]store.Record{r})
}

func TestWhatWasDroppedIsLateByAtLeastTheTimeThatWasWaitedForIt(t *testing.T) {
	t.Parallel()
	for name, subscriptions := range map[string]int{"one subscription": 1, "three": 3} {
		r := runUndisturbed(t, func(s *study.Spec) {
			atMostOnce(s, 1000, 2*time.Second, 3*time.Second)
			s.SubscriptionsPerTopic = subscriptions
			s.Client = map[string]any{"latency": "20ms", "loss.every": 10}
		})
		e2e, b := r.Result.Latency.EndToEnd, r.Result.Books
		if e2e.Count() != b.Expected || e2e.Censored() != b.Lost || b.Lost != int64(200*subscriptions) {
			t.Errorf("%s: %d latencies, %d of them censored; the books: %+v", name, e2e.Count(), e2e.Censored(), b)
		}
		checkNear(t, r, "p50", latencyOf(r, results.KeyEndToEndP50).Median, 20e6, 0.05)
		if p50 := latencyOf(r, results.KeyEndToEndP50); p50.AtLeast() {
			t.Errorf("%s: p50 is open: %+v, though 90 %% came", name, p50)
		}
		// A second passes without a delivery before the wait for the missing ends; they were sent over 2 s before that.
		p95 := latencyOf(r, results.KeyEndToEndP95)
		if !p95.AtLeast() || p95.Median < 1.5e9 || p95.Median > 3.1e9 {
			t.Errorf("%s: p95 is %+v; want at least 2 s", name, p95)
		}
	}
}

func TestALongerDrainNeverContradictsAShorterOne(t *testing.T) {
	measured := func(drain time.Duration) store.Record {
		return runUndisturbed(t, func(s *study.Spec) {
			atMostOnce(s, 1500, time.Second, drain)
			s.Client = map[string]any{"capacity": 500}
		})
	}
	short, long := measured(time.Second), measured(20*time.Second) // all have come after 3.9 s
	for _, key := range []string{results.KeyEndToEndP50, results.KeyEndToEndP99, results.KeyEndToEndMax} {
		bound, value := latencyOf(short, key), latencyOf(long, key)
		if !bound.AtLeast() || value.AtLeast() || bound.Median > value.Median {
			t.Errorf("%s: %+v after 1 s, and %+v after 20 s", key, bound, value)
		}
	}
	if n := short.Result.Latency.EndToEnd.Count(); n != 1500 {
		t.Errorf("%d latencies of 1500 messages", n)
	}
	// Message n of all 1,950 departs at (n+1)/500 s and is due at n/1500 s, from 0.3 s before the measured phase: it waits n/750 s.
	checkNear(t, long, "p50", latencyOf(long, results.KeyEndToEndP50).Median, 1200.0/750*1e9, 0.05)
}

func TestSendsWithoutAnOutcomeAreInThePublishLatency(t *testing.T) {
	t.Parallel()
	r := runUndisturbed(t, func(s *study.Spec) {
		setRate(s, 500, 2*time.Second)
		s.Drain = study.Duration(time.Second)
		s.Client = map[string]any{"ack.latency": "1500ms"}
	})
	publish, b := r.Result.Latency.Publish, r.Result.Books
	const atOnce = 5 // confirmations that come while the outcome is read may be in both
	if b.Unresolved == 0 || publish.Censored()-b.Unresolved > atOnce || publish.Count() < b.Due || publish.Count() > b.Due+atOnce {
		t.Errorf("%d publish latencies, %d of them censored; the books: %+v", publish.Count(), publish.Censored(), b)
	}
}
