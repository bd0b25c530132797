package lab_test

import (
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
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
		if !hasDoubt(r, "consumer-bound") || r.Result.Books.Received != 400 {
			t.Errorf("%s (%s), %.0f/s received, doubts %v", r.Status, r.Reason, r.Result.ReceiveRate, r.Doubts)
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
	if found.Limit != "consumer-delay" && !hasDoubt(r, "busy-machine") {
		t.Errorf("limit %s", found.Limit)
	}
}
