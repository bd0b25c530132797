package lab_test

import (
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// A consumer that takes 10 ms for each message can't take more than 100 a second, whatever the broker can.
func TestSlowConsumersSetThePaceAndAreNamed(t *testing.T) {
	t.Parallel()
	slow := func(s *study.Spec) {
		s.ConsumerDelay, s.ConsumerDelays = study.Duration(10*time.Millisecond), "constant"
	}
	t.Run("a backlog", func(t *testing.T) {
		r := runCounts(t, simSpec(func(s *study.Spec) {
			slow(s)
			s.Measure, s.Backlog.Messages, s.Backlog.DrainRatio = "backlog", 200, 1
			s.Drain = study.Duration(20 * time.Second)
		}), lab.Options{})
		if rate := r.Result.Backlog.DrainRate; rate > 105 || rate < 50 || r.Result.Books.Received != 200 {
			t.Errorf("drained at %.1f/s, 100 is the truth; %d of 200 messages", rate, r.Result.Books.Received)
		}
	})
	t.Run("more than they can take", func(t *testing.T) {
		r := runCounts(t, simSpec(func(s *study.Spec) {
			slow(s)
			setRate(s, 200, 2*time.Second)
			s.Drain = study.Duration(10 * time.Second)
		}), lab.Options{})
		if !hasDoubt(r, "consumer-bound") || !r.Result.Limits.Are("consumer-delay") || r.Result.Books.Received != 400 {
			t.Errorf("%s (%s), %.0f/s received, doubts %v, %s", r.Status, r.Reason, r.Result.ReceiveRate, r.Doubts, r.Result.Limits)
		}
	})
	t.Run("less than they can take", func(t *testing.T) {
		r := runCounts(t, simSpec(func(s *study.Spec) {
			slow(s)
			setRate(s, 50, time.Second)
		}), lab.Options{})
		if hasDoubt(r, "consumer-bound") {
			t.Errorf("%s (%s), doubts %v", r.Status, r.Reason, r.Doubts)
		}
	})
}

// Three producers that work on each message for 10 ms bring 300 a second, whatever the broker can take.
func TestBusyProducersSetThePaceAndAreNamed(t *testing.T) {
	t.Parallel()
	busy := func(s *study.Spec) {
		s.ProducersPerTopic, s.ProducerDelay = 3, study.Duration(10*time.Millisecond)
	}
	t.Run("a count", func(t *testing.T) {
		r := runCounts(t, simSpec(func(s *study.Spec) {
			busy(s)
			s.Measure, s.Count, s.Load.Rate = "count", study.Count{Messages: 300}, 0
		}), lab.Options{})
		if r.Result.Limits.Are("client") && hasDoubt(r, "busy-machine") { // their work was not what held them back
			testkit.Undecided(t, "%.1f/s instead of 300/s: %v", r.Result.PublishRate, r.Doubts)
		}
		// 100 messages of each producer are 99 works apart. Only the first may be sent late, by as much as producers make up for.
		const catchUp = 0.005 // worker's maxCatchUp
		if rate := r.Result.PublishRate; rate > 300/(0.99-catchUp) || rate < 200 || !r.Result.Limits.Are("producer-delay") || !hasDoubt(r, "producer-bound") || hasDoubt(r, "generator-bound") {
			t.Errorf("%.1f/s, 300 is the truth; limit %s, doubts %v", rate, r.Result.Limits, r.Doubts)
		}
	})
	t.Run("more than they can bring", func(t *testing.T) {
		r := runCounts(t, simSpec(func(s *study.Spec) {
			busy(s)
			setRate(s, 600, time.Second)
			s.Drain = study.Duration(10 * time.Second)
		}), lab.Options{})
		if r.Status == store.Void || !hasDoubt(r, "producer-bound") || r.Result.Books.Received != 600 || hasDoubt(r, "generator-lag") && !hasDoubt(r, "busy-machine") {
			t.Errorf("%s (%s), %d received, doubts %v", r.Status, r.Reason, r.Result.Books.Received, r.Doubts)
		}
	})
	t.Run("less than they can bring", func(t *testing.T) {
		r := runCounts(t, simSpec(func(s *study.Spec) {
			busy(s)
			setRate(s, 150, time.Second)
		}), lab.Options{})
		if hasDoubt(r, "producer-bound") || r.Result.Latency.EndToEnd.Quantile(0.5) < int64(10*time.Millisecond) {
			t.Errorf("%s (%s), %v, doubts %v", r.Status, r.Reason, r.Result.Latency.EndToEnd.Quantile(0.5), r.Doubts)
		}
	})
}

func TestASearchNamesTheProducersThatRanOut(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		s.ProducersPerTopic, s.ProducerDelay = 2, study.Duration(8*time.Millisecond)
		s.Sustainable.Width = 0.1
	})
	requireFound(t, r)
	if math.Abs(found.Low-250) > 40 && !hasDoubt(r, "busy-machine") {
		t.Errorf("%.0f/s, 250/s is the truth", found.Low)
	}
	if !found.Limits.Are("producer-delay") && !hasDoubt(r, "busy-machine") {
		t.Errorf("limit %s", found.Limits)
	}
}

func TestASearchNamesTheConsumersThatRanOut(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		s.ConsumerDelay, s.ConsumerDelays = study.Duration(4*time.Millisecond), "constant"
		s.Sustainable.Width = 0.1
	})
	requireFound(t, r)
	if math.Abs(found.Low-250) > 40 && !hasDoubt(r, "busy-machine") {
		t.Errorf("%.0f/s, 250/s is the truth", found.Low)
	}
	if !found.Limits.Are("consumer-delay") && !hasDoubt(r, "busy-machine") {
		t.Errorf("limit %s", found.Limits)
	}
}
