package lab_test

import (
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// lagging has one of two subscriptions lag behind 4,000 messages that take 0.4 s, then 2,000/s for half a second.
func lagging(s *study.Spec) {
	s.Measure, s.SubscriptionsPerTopic, s.MessageSize = "backlog", 2, study.Sizes{{Size: 100, Weight: 1}}
	s.Backlog = study.Backlog{Messages: 4000, KeepSending: true, Rate: 2000, Subscriptions: 1}
	s.Load.Rate, s.Duration, s.Drain, s.Warmup = 10_000, study.Duration(500*time.Millisecond), study.Duration(20*time.Second), study.Warmup{}
}

func TestASubscriptionLagsWhileTheOtherTails(t *testing.T) {
	spec := simSpec(func(s *study.Spec) {
		lagging(s)
		s.Client = map[string]any{"latency": "5ms"}
	})
	checkLagging(t, runPoint(t, spec, lab.Options{}), 5*time.Millisecond)
}

func TestASubscriptionOfJetStreamLagsWhileTheOtherTails(t *testing.T) {
	spec := simSpec(func(s *study.Spec) {
		lagging(s)
		s.Broker, s.Persistence = "jetstream", "log"
	})
	checkLagging(t, runPoint(t, spec, lab.Options{Host: newHost(t)}), 0)
}

// checkLagging checks a record of lagging, on a broker that takes at least so long for a message.
func checkLagging(t *testing.T, r store.Record, latency time.Duration) {
	t.Helper()
	if r.Status != store.OK {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	b, books := r.Result.Backlog, r.Result.Books
	if b.Messages != 4000 || b.Bytes != 400_000 || books.Lost != 0 || books.Received != 2*books.Sent {
		t.Errorf("%+v, %+v", *b, books)
	}
	if sent := books.Sent - 4000; sent < 700 || sent > 1100 { // 2,000/s for half a second, or a bit less where consumers took a while to register
		t.Errorf("%d messages while it drained", sent)
	}
	// A message of the beginning waited while the rest was filled, 0.4 s; one of those who tail comes at once.
	if oldest := time.Duration(b.LaggingEndToEnd.Max()); oldest < 350*time.Millisecond {
		t.Errorf("the oldest message of the backlog was %v old", oldest)
	}
	due := books.Sent + books.Unsent // what was not sent any more has a latency, too
	if n, all := b.LaggingEndToEnd.Count(), due; n != all {
		t.Errorf("%d latencies of the subscription that lags, %d messages", n, all)
	}
	if n := b.FillingEndToEnd.Count(); n != 4000 {
		t.Errorf("%d latencies while it was filled, want 4000", n)
	}
	if n := r.Result.Latency.EndToEnd.Count(); n != due-4000 {
		t.Errorf("%d latencies while it drained, want %d", n, due-4000)
	}
	median := func(key string) time.Duration { return time.Duration(results.MustMetric(key).Of(r)) }
	for _, key := range []string{results.KeyEndToEndP50, "e2e_filling_p50_ns"} {
		if got := median(key); got < latency || got > testkit.Within(100*time.Millisecond) {
			t.Errorf("%s is %v, want %v or a bit more", key, got, latency)
		}
	}
	if got := median("e2e_lagging_max_ns"); got != time.Duration(b.LaggingEndToEnd.Max()) {
		t.Errorf("e2e_lagging_max_ns is %v", got)
	}
	for _, key := range []string{results.KeyThroughput, "consumer_rate", results.KeyCorrectedP99, results.KeyMeanOfSeconds} {
		if got := results.MustMetric(key).Of(r); !math.IsNaN(got) {
			t.Errorf("%s is %v of those who tail and those who lag together", key, got)
		}
	}
	if drained := results.MustMetric(results.KeyDrainRate).Of(r); !(drained > 0) {
		t.Errorf("drained at %v/s", drained)
	}
}
