package drivertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// ahead bounds how far senders may be ahead of the slowest subscription: with at-most-once, a broker may drop messages for a slow
// reader, which would be no fault of the driver.
const ahead = 512

// delivery runs one healthy session and checks each promise on its outcome.
func (r *run) delivery(t *testing.T, g driver.Guarantee) {
	s := r.open(t, g, shape{topics: 2, subscriptions: 2, consumers: r.suite.Consumers})
	s.requireDropper(t, r.suite.Kind)
	// Both send concurrently and without delay: messages sent right after the last ready must arrive.
	senders := []*sender{s.newSender(t, 0, 0, 1), s.newSender(t, 1, 1, 0)}
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	for sent := 0; sent < r.suite.Bulk; sent += ahead / 4 {
		errs := make([]error, len(senders))
		var wg sync.WaitGroup
		for i, p := range senders {
			wg.Go(func() { errs[i] = p.send(ctx, min(ahead/4, r.suite.Bulk-sent)) })
		}
		wg.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatalf("sender %d: %v", i, err)
			}
		}
		if !eventually(patience, func() bool { return s.lagging() < ahead || s.broken() }) {
			break // the tallies show what is missing
		}
	}
	for _, p := range senders {
		p.settle(t)
	}
	s.caughtUp()
	for _, p := range senders {
		p.close(t, true)
	}
	t.Run("Consume ends with nil soon after cancel, and Close closes", func(t *testing.T) { s.close(t, true) })
	t.Run("no goroutine is left behind", func(t *testing.T) { requireNothingLeft(t, s) })
	t.Run("nothing is written to the terminal", r.requireSilence)
	t.Run("every slot is completed exactly once, without an error", func(t *testing.T) {
		s.reportSlots(t)
		requireNoFailures(t, s)
	})
	t.Run("every payload arrives complete and unchanged with its headers, though their buffers are reused", s.reportTallies)
	t.Run("each subscription sees every message of its topic once", func(t *testing.T) { requireCounts(t, s, exact) })
}

// producersMadeAgain makes one producer after the other with the same ID; the last ones are closed with messages in flight, and
// with a context that has ended.
func (r *run) producersMadeAgain(t *testing.T, g driver.Guarantee) {
	s := r.open(t, g, shape{topics: 1, subscriptions: 1, consumers: 1, bare: true})
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	for range 3 {
		s.sendAll(t, 100)
	}
	// Every settled message must have arrived before outcomes become uncertain.
	s.caughtUp()
	requireNoFailures(t, s)
	inFlightAtClose := s.newSender(t, 0, 0)
	if err := inFlightAtClose.send(ctx, inFlight); err != nil {
		t.Error(err)
	}
	inFlightAtClose.close(t, false)
	cancelled := s.newSender(t, 0, 0)
	ended, end := context.WithCancel(ctx)
	end()
	_ = cancelled.send(ended, sendMax) // may be refused or accepted; its slots are completed either way
	cancelled.close(t, false)
	eventually(cancelBound, func() bool { return countsMatch(s, acknowledged) })
	s.close(t, true)
	t.Run("Close completes every slot that is in flight, and none later", func(t *testing.T) {
		requireNothingLeft(t, s)
		s.reportSlots(t)
	})
	t.Run("what was acknowledged was delivered, unchanged", func(t *testing.T) {
		s.reportTallies(t)
		requireCounts(t, s, acknowledged)
	})
	t.Run("the messages of a producer arrive in order", func(t *testing.T) {
		if g.Ordering != driver.Ordered {
			testkit.Without(t, "order was not asked for")
		}
		if late := s.tallies[0][0].late; late > 0 {
			t.Errorf("%d messages came after a later one of the same producer", late)
		}
	})
}

// cleaned leaves unread messages behind, cleans, and looks for them under the same names.
func (r *run) cleaned(t *testing.T, g driver.Guarantee) {
	unread := shape{topics: 1, subscriptions: 1}
	s := r.open(t, g, unread)
	t.Run("Consume whose context has ended before it began ends with nil", s.consumeTooLate)
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	s.sendAll(t, sendMax)
	if cleaner, ok := s.drv.(driver.Cleaner); ok { // a driver that is no Cleaner has a broker that keeps nothing
		if err := cleaner.Clean(ctx); err != nil {
			t.Errorf("Clean: %v", err)
		}
	}
	s.close(t, true)
	read := unread
	read.consumers = 1
	again := r.reopen(t, g, read, s.topology)
	again.senders = 1 // its messages differ from those left behind
	after := again.newSender(t, 0, 0)
	after.deliver(t, sendMax)
	again.caughtUp()
	after.close(t, true)
	again.close(t, true)
	t.Run("nothing is left of what Setup made, and the names can be used again", func(t *testing.T) {
		again.reportTallies(t)
		requireCounts(t, again, exact)
	})
}

func (s *session) consumeTooLate(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	end()
	sink := &consumer{tally: s.tallies[0][0], scratch: make([]byte, largest)}
	if err := inTime(t, "Consume", cancelBound, func() error { return s.drv.Consume(ctx, driver.ConsumerConfig{}, sink, func() {}) }); err != nil {
		t.Errorf("Consume ended with %q; want nil", err)
	}
}

// handOver is the longest time for which a client may buffer messages.
const handOver = time.Second

func (r *run) pausedBroker(t *testing.T, g driver.Guarantee) {
	if r.suite.Pause == nil || r.suite.Resume == nil {
		testkit.Without(t, "this broker can't be paused here")
	}
	s := r.open(t, g, shape{topics: 1, subscriptions: 1, consumers: 1})
	p := s.newSender(t, 0, 0)
	p.deliver(t, sendMax)
	s.caughtUp()
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	r.suite.Pause(t)
	resume := sync.OnceFunc(func() { r.suite.Resume(t) })
	defer resume()
	t.Run("Send never waits for an acknowledgement", func(t *testing.T) {
		sent := make(chan error, 1)
		go func() { sent <- p.send(ctx, sendMax) }()
		select {
		case err := <-sent:
			if err != nil {
				t.Errorf("sending to a paused broker: %v", err)
			}
		case <-time.After(cancelBound):
			resume()
			<-sent
			t.Errorf("Send to a paused broker had not returned after %v", cancelBound)
		}
	})
	t.Run("without acknowledgements a message is completed when it is handed over, otherwise by the broker", func(t *testing.T) {
		if handed := eventually(handOver, func() bool { return p.slots.outstanding() == 0 }); handed != (g.Acks == driver.AcksNone) {
			t.Errorf("acks: %s, and %d messages to a paused broker are without an outcome after %v", g.Acks, p.slots.outstanding(), handOver)
		}
		if n, err := p.slots.failed(); n > 0 {
			t.Errorf("%d failed, one with: %v", n, err)
		}
	})
	t.Run("Close completes every slot, and Consume ends, while the broker is paused", func(t *testing.T) {
		p.close(t, false)
		s.close(t, false)
		s.reportSlots(t)
	})
	resume()
	t.Run("no goroutine is left behind", func(t *testing.T) { requireNothingLeft(t, s) })
	s.reportTallies(t)
}

func (r *run) killedBroker(t *testing.T) {
	if r.suite.Kill == nil {
		testkit.Without(t, "this broker can't be killed here")
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	var open []*session
	for _, g := range r.suite.Guarantees {
		s := r.open(t, g, shape{topics: 1, subscriptions: 1, consumers: 1})
		p := s.newSender(t, 0, 0)
		p.deliver(t, sendMax)
		if err := p.send(ctx, sendMax); err != nil {
			t.Fatal(err)
		}
		open = append(open, s)
	}
	r.suite.Kill(t)
	for _, s := range open {
		t.Run(label(s.guarantee)+": Close completes every slot, and Consume ends", func(t *testing.T) {
			p := s.all[0]
			soon, cancel := context.WithTimeout(ctx, cancelBound)
			defer cancel()
			_ = p.send(soon, sendMax) // may well fail; its slots are completed all the same
			p.close(t, false)
			s.close(t, false)
			s.reportSlots(t)
			s.reportTallies(t)
		})
	}
	t.Run("no goroutine is left behind", func(t *testing.T) { requireNothingLeft(t, open[0]) })
}

func requireNothingLeft(t *testing.T, s *session, except ...goleak.Option) {
	t.Helper()
	if left := s.leftovers(except...); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
}

func requireNoFailures(t *testing.T, s *session) {
	t.Helper()
	for _, p := range s.all {
		if n, err := p.slots.failed(); n > 0 {
			t.Errorf("%d of %d messages of sender %d failed, one with: %v", n, len(p.sent), p.number, err)
		}
	}
}

// strictness says how to judge the counts of a session.
type strictness int

const (
	exact        strictness = iota // every message sent was received once
	acknowledged                   // every message acknowledged was received; the others at most once
	atLeast                        // every message acknowledged was received, perhaps more than once
)

// requireCounts compares what was received with what was sent.
func requireCounts(t *testing.T, s *session, how strictness) {
	t.Helper()
	for _, problem := range miscounts(s, how) {
		t.Error(problem)
	}
}

func countsMatch(s *session, how strictness) bool { return len(miscounts(s, how)) == 0 }

func miscounts(s *session, how strictness) (problems []string) {
	for topic, row := range s.tallies {
		for sub, a := range row {
			var lost, again, unsent int
			known := map[identity]bool{}
			a.mu.Lock()
			for _, p := range s.all {
				p.slots.eachFate(func(id identity, err error) {
					if id.topic() != topic {
						return
					}
					known[id] = true
					// With at-most-once, an acknowledgement only says that the client took over the message, so the last messages
					// of a closed producer may be lost.
					due := how == exact || err == nil && s.guarantee.Delivery != driver.AtMostOnce
					if n := a.counts[id]; n == 0 && due {
						lost++
					} else if n > 1 && how != atLeast {
						again++
					}
				})
			}
			for id := range a.counts {
				if !known[id] {
					unsent++
				}
			}
			received := len(a.counts)
			a.mu.Unlock()
			if lost+again+unsent > 0 {
				problems = append(problems, fmt.Sprintf("subscription %d of topic %d, %d of %d messages received: %d lost, %d received again, %d never completed as sent",
					sub, topic, received, len(known), lost, again, unsent))
			}
		}
	}
	return problems
}
