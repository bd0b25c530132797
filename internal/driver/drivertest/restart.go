package drivertest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

const (
	restartBound = 2 * time.Minute         // for a whole session with a restart of the broker
	slotBound    = time.Minute             // for a slot to be completed meanwhile
	before       = 1500 * time.Millisecond // a broker may store the creation of a topic later than messages sent to it
	afterwards   = 100                     // messages sent when the broker is back
	breath       = 2 * time.Millisecond    // between batches: the restart must hit messages in every state
	still        = 300 * time.Millisecond  // to wait for duplicates
)

const provisioned = "github.com/brokermark/brokermark/internal/provision"

// restartedBroker kills and restarts the broker while messages are being sent, under every guarantee that has to survive it.
func (r *run) restartedBroker(t *testing.T) {
	if r.suite.Restart == nil {
		testkit.Without(t, "this broker can't be restarted here")
	}
	var open []*session
	for _, g := range r.suite.Guarantees {
		if g.Delivery != driver.AtMostOnce && r.suite.Keeps(g) {
			sh := r.crowded(1)
			sh.apart = r.suite.StoredApart
			s := r.open(t, g, sh)
			s.newSender(t, 0, s.topics()...).bound = slotBound
			open = append(open, s)
		}
	}
	if len(open) == 0 {
		testkit.Without(t, "no guarantee here is to hold through a restart")
	}
	errs := sendDuring(open, (*sender).sendUntil, func() {
		time.Sleep(before)
		for _, s := range open {
			eventually(patience, func() bool { return s.tallies[0][0].received() > 0 })
		}
		r.suite.Restart(t)
	})
	for i, s := range open {
		t.Run(label(s.guarantee), func(t *testing.T) { s.requireRestarted(t, errs[i]) })
	}
	t.Run("no goroutine is left behind", func(t *testing.T) {
		requireNothingLeft(t, open[0], // the observing connections are new, too
			goleak.IgnoreAnyFunction(provisioned+".(*member).watch"), goleak.IgnoreAnyFunction(provisioned+".(*process).follow"))
	})
}

// sendDuring has the first sender of each session send while disturb runs, and returns the error with which each ended.
func sendDuring(open []*session, send func(p *sender, ctx context.Context, over <-chan struct{}) error, disturb func()) []error {
	ctx, cancel := context.WithTimeout(context.Background(), restartBound)
	defer cancel()
	over := make(chan struct{})
	errs := make([]error, len(open))
	var sending sync.WaitGroup
	for i, s := range open {
		sending.Go(func() { errs[i] = send(s.all[0], ctx, over) })
	}
	disturb()
	close(over)
	sending.Wait()
	return errs
}

// crowded is a shape with one topic, or with several that share a connection if the driver supports that.
func (r *run) crowded(consumers int) shape {
	s := shape{topics: 1, subscriptions: 1, consumers: consumers, shared: r.suite.Kind.Shared}
	if s.shared {
		s.topics = several
	}
	return s
}

// topics are all topics of the session.
func (s *session) topics() []int {
	topics := make([]int, len(s.topology.Topics))
	for i := range topics {
		topics[i] = i
	}
	return topics
}

// last is the highest sequence number of a sender that has arrived from any topic.
func (s *session) last(sender int) int {
	last := 0
	for _, row := range s.tallies {
		last = max(last, row[0].lastOf(sender))
	}
	return last
}

// sendUntil sends until over is closed, and then some more.
func (p *sender) sendUntil(ctx context.Context, over <-chan struct{}) error {
	for {
		if err := p.send(ctx, sendMax/4); err != nil {
			return err
		}
		select {
		case <-over:
			return p.send(ctx, afterwards)
		case <-time.After(breath):
		}
	}
}

// requireRestarted waits for the remaining messages and closes the session.
func (s *session) requireRestarted(t *testing.T, sendErr error) {
	p := s.all[0]
	p.settle(t)
	ended := false
	eventually(patience, func() bool {
		ended = slices.ContainsFunc(s.consumers, (*consumer).hasEnded)
		// Otherwise the last message of one topic may arrive before that of another.
		inOrder := s.guarantee.Delivery == driver.AtMostOnce && s.guarantee.Ordering == driver.Ordered && s.last(p.number) == p.next-1
		return ended || inOrder || countsMatch(s, atLeast)
	})
	time.Sleep(still)
	p.close(t, true)
	s.close(t, true)
	t.Run("nothing is refused for good", func(t *testing.T) {
		s.reportSlots(t)
		if s.guarantee.Delivery == driver.AtMostOnce {
			testkit.Without(t, "at most once it may")
		}
		if sendErr != nil {
			t.Errorf("sending: %v", sendErr)
		}
		requireNoFailures(t, s)
	})
	t.Run("Consume goes on", func(t *testing.T) {
		if !ended {
			return
		}
		t.Error("Consume ended; it has to connect again")
		for _, c := range s.consumers {
			if c.hasEnded() {
				t.Logf("consumer %d: %v", c.id, c.err)
			}
		}
	})
	t.Run("nothing acknowledged is lost", func(t *testing.T) {
		s.reportTallies(t)
		requireCounts(t, s, atLeast)
	})
	t.Run("nothing comes twice", func(t *testing.T) {
		switch s.guarantee.Delivery {
		case driver.AtLeastOnce:
			testkit.Without(t, "at least once it may")
		case driver.AtMostOnce:
			requireCounts(t, s, acknowledged)
		default:
			requireCounts(t, s, exact)
		}
	})
	t.Run("what comes for the first time comes in order", func(t *testing.T) {
		if s.guarantee.Ordering != driver.Ordered {
			testkit.Without(t, "order was not asked for")
		}
		if s.guarantee.Delivery == driver.AtMostOnce {
			testkit.Without(t, "messages that a lost connection had taken, without waiting for an acknowledgement, may come after those of the next one")
		}
		for _, row := range s.tallies {
			if late := row[0].late; late > 0 {
				t.Errorf("topic %d: %d messages came after a later one of the same producer, of those that are stored alike", row[0].topic, late)
			}
		}
	})
	deliveries := 0
	for _, row := range s.tallies {
		deliveries += row[0].deliveries()
	}
	t.Logf("%d messages sent, %d deliveries", len(p.sent), deliveries)
}
