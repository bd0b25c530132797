package drivertest

import (
	"context"
	"sync"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

const (
	several    = 3   // number of producers, consumers or subscriptions, if a topology has more than one
	manyTopics = 100 // in one topology
	partitions = 4   // of a topic that keeps order by key
	keys       = 7
	perTopic   = 90 // messages of a producer to a topic
	perMany    = 3  // the same, to each of many topics
)

// topology is a shape with its number of producers; each sends to every topic.
type topology struct {
	name string
	shape
	producers int
	messages  int // of each producer to each topic
}

var topologies = []topology{
	{"1 to 1", shape{topics: 1, subscriptions: 1, consumers: 1}, 1, perTopic},
	{"no subscription", shape{topics: 1}, 1, perTopic},
	{"1 to N: each message goes to one of the consumers of a queue", shape{topics: 1, subscriptions: 1, consumers: several}, 1, perTopic},
	{"N to 1", shape{topics: 1, subscriptions: 1, consumers: 1}, several, perTopic},
	{"N to M", shape{topics: 1, subscriptions: 1, consumers: several}, several, perTopic},
	{"consumers divide the partitions", shape{topics: 1, subscriptions: 1, consumers: several, partitions: 2*several + 1}, several, perTopic},
	{"more consumers than partitions", shape{topics: 1, subscriptions: 1, consumers: several, partitions: several - 1}, several, perTopic},
	{"publish and subscribe: each subscription gets every message", shape{topics: 1, subscriptions: several, consumers: 1}, several, perTopic},
	{"subscriptions of which one has fewer consumers", shape{topics: 1, subscriptions: 2, consumers: several, last: 1}, several, perTopic},
	{"many topics at once", shape{topics: manyTopics, subscriptions: 1, consumers: 1}, 1, perMany},
	{"many topics, consumers that share connections", shape{topics: manyTopics, subscriptions: 2, consumers: several, shared: true}, several, perMany},
}

// shown has the names of the drivers whose topologies were exercised in this process: other versions and clusters of the broker
// have the same.
var shown sync.Map

// topologies exercises every shape under one guarantee: the first with acknowledgements, if there is one.
func (r *run) topologies(t *testing.T) {
	if _, again := shown.LoadOrStore(r.suite.Kind.Name, true); again {
		testkit.Without(t, "shown before")
	}
	g := r.suite.Guarantees[0]
	for _, other := range r.suite.Guarantees {
		if g.Delivery == driver.AtMostOnce {
			g = other
		}
	}
	for _, shape := range topologies {
		t.Run(shape.name, func(t *testing.T) {
			if shape.consumers > 1 && r.suite.Consumers == 1 {
				testkit.Without(t, "this broker's subscriptions can't be shared")
			}
			if shape.shared && !r.suite.Kind.Shared {
				testkit.Without(t, "this driver's topics don't share connections")
			}
			if err := r.openAndSetUp(t, g, newTopology(shape.shape)); shape.partitions > 1 && refused(err) {
				testkit.Without(t, "%v", err)
			}
			s := r.open(t, g, shape.shape)
			r.exchange(t, s, shape, nil)
			requireCounts(t, s, exact)
		})
	}
	t.Run("messages of one key come in order", func(t *testing.T) { r.keyOrder(t) })
	t.Run("what one process has made, others use", func(t *testing.T) { r.sharedTopology(t, g) })
	t.Run("what another process is to make, Setup leaves to it", func(t *testing.T) { r.makesNothing(t, g) })
	t.Run("the broker says how long a queue is", func(t *testing.T) { r.queue(t, g) })
}

// sharedTopology has one driver make a topology, another one publish and a third one consume, as the processes of one application do.
func (r *run) sharedTopology(t *testing.T, g driver.Guarantee) {
	nobody := shape{topics: 1, subscriptions: 1}
	maker := r.open(t, g, nobody)
	made := maker.topology
	made.Existing = true
	all := topology{shape: shape{topics: 1, subscriptions: 1, consumers: min(several, r.suite.Consumers)}, producers: several, messages: perTopic}
	s := r.reopen(t, g, all.shape, made)
	publisher := r.reopen(t, g, nobody, made)
	s.drv, publisher.drv = publisher.drv, s.drv // it sends through one driver and consumes through the other
	r.exchange(t, s, all, nil)
	requireCounts(t, s, exact)
	publisher.close(t, true)
	maker.close(t, true)
}

// makesNothing has a driver set up a topology as Existing. A subscription that does not exist yet must not receive messages that
// are sent then. A log that begins at its start has them in any case, which a run without that driver shows. A driver that makes
// a topic only once is checked by making it again.
func (r *run) makesNothing(t *testing.T, g driver.Guarantee) {
	kept, err := r.heldBefore(t, g, false)
	if err != nil {
		topology := newTopology(shape{topics: 1, subscriptions: 2})
		others := topology
		others.Existing = true
		_ = r.openAndSetUp(t, g, others) // it may return an error because nothing exists
		if err := r.openAndSetUp(t, g, topology); err != nil {
			t.Errorf("Setup with Existing has made a topic: %v", err)
		}
		return
	}
	if kept > 0 {
		testkit.Without(t, "a subscription begins at the start of a log: it has %d messages from before", kept)
	}
	held, err := r.heldBefore(t, g, true)
	if err != nil {
		t.Fatalf("setup: %v", err)
	}
	if held > 0 {
		t.Errorf("%d messages waited in subscriptions that only Setup with Existing can have made", held)
	}
}

// heldBefore is the number of messages that subscriptions deliver although they were sent before the subscriptions were made. With early,
// a driver set them up as Existing before that. It returns an error if the driver adds no subscriptions to existing topics.
func (r *run) heldBefore(t *testing.T, g driver.Guarantee, early bool) (held int, err error) {
	two := shape{topics: 1, subscriptions: 2}
	topology := newTopology(two)
	if early {
		others := topology
		others.Existing = true
		_ = r.openAndSetUp(t, g, others) // it may return an error because nothing exists
	}
	before := topology
	before.Subscriptions = newTopology(two).Subscriptions
	first := r.reopen(t, g, two, before)
	first.sendAll(t, sendMax)
	first.close(t, true)
	if err := r.openAndSetUp(t, g, topology); err != nil {
		return 0, err
	}
	two.consumers = 1
	s := r.reopen(t, g, two, topology)
	s.senders = 1 // its messages differ from those before
	s.sendAll(t, 1)
	for _, a := range s.tallies[0] {
		own := s.all[0].sent[0]
		eventually(patience, func() bool { return a.times(own) > 0 })
		held += a.received() - min(1, a.times(own))
	}
	s.close(t, true)
	return held, nil
}

// sendAll sends n messages with a producer of its own, and waits until each is settled.
func (s *session) sendAll(t *testing.T, n int) {
	t.Helper()
	p := s.newSender(t, 0, 0)
	p.deliver(t, n)
	p.close(t, true)
}

// keyOrder sends with few keys to a partitioned topic, or to a topic with one partition if the broker has no others; its
// consumers share the subscription.
func (r *run) keyOrder(t *testing.T) {
	for _, g := range r.suite.Guarantees {
		if g.Ordering != driver.Ordered || g.Delivery == driver.AtMostOnce {
			continue
		}
		shape := topology{shape: shape{topics: 1, subscriptions: 1, consumers: min(several, r.suite.Consumers), partitions: partitions}, producers: 2, messages: perTopic}
		if err := r.openAndSetUp(t, g, newTopology(shape.shape)); refused(err) {
			t.Logf("with one partition: %v", err)
			shape.partitions = 1
		}
		s := r.open(t, g, shape.shape)
		all := s.tallies[0][0]
		all.mu.Lock()
		all.keys = keys
		all.mu.Unlock()
		r.exchange(t, s, shape, func(p *sender) { p.slots.fewKeys = keys })
		requireCounts(t, s, exact)
		if all.lateInKey > 0 {
			t.Errorf("%d messages came after a later one of the same producer and key", all.lateInKey)
		}
		return
	}
	testkit.Without(t, "order was not asked for")
}

// exchange sends everything, waits until it has arrived and closes the session.
func (r *run) exchange(t *testing.T, s *session, shape topology, prepare func(*sender)) {
	t.Helper()
	for id := range shape.producers {
		p := s.newSender(t, id, s.topics()...)
		if prepare != nil {
			prepare(p)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	errs := make([]error, len(s.all))
	var wg sync.WaitGroup
	for i, p := range s.all {
		wg.Go(func() { errs[i] = p.send(ctx, shape.messages*shape.topics) })
	}
	wg.Wait()
	for i, p := range s.all {
		if errs[i] != nil {
			t.Errorf("producer %d: %v", i, errs[i])
		}
		p.settle(t)
	}
	s.caughtUp()
	for _, p := range s.all {
		p.close(t, true)
	}
	s.close(t, true)
	s.reportSlots(t)
	requireNoFailures(t, s)
	s.reportTallies(t)
}
