package drivertest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/driver"
)

// Bounds that the contract calls "a few seconds". They are wide enough for a JVM broker on a busy machine; no test measures a
// shorter time.
const (
	patience     = 20 * time.Second // for an event that must happen on a healthy broker
	sessionBound = time.Minute      // for all sends of a session
	cancelBound  = 5 * time.Second  // from cancel to the end of Consume
	closeBound   = 15 * time.Second // for Close, whatever the broker does
	openBound    = 10 * time.Second // for Open at an address where nothing answers
)

// session is one driver on topics of its own, with consumers and senders.
type session struct {
	drv       driver.Driver
	guarantee driver.Guarantee
	topology  driver.Topology
	tallies   [][]*tally // by topic, by subscription
	consumers []*consumer
	all       []*sender
	senders   int
	carries   bool            // messages carry headers
	wanted    []string        // headers that consumers ask for
	left      []goleak.Option // goroutines that may remain: those from before, and those that linger
}

// shape is the number of everything in a session.
type shape struct {
	topics, subscriptions, consumers, partitions int  // partitions 0: 1
	bare                                         bool // no message carries headers
	shared                                       bool // a consumer reads all topics over one connection
	last                                         int  // consumers of the last subscription; 0: as many as of the others
	apart                                        int  // see Suite.StoredApart; 0: all messages have one order
}

// of is the number of consumers that share a subscription.
func (s shape) of(subscription int) int {
	if s.last > 0 && subscription == s.subscriptions-1 {
		return s.last
	}
	return s.consumers
}

var sessions atomic.Int64

func (r *run) config(t *testing.T, g driver.Guarantee, target driver.Target) driver.Config {
	t.Helper()
	client, err := driver.Decode(r.suite.Kind.Settings, driver.ClientScope, r.suite.Client)
	if err != nil {
		t.Fatal(err)
	}
	topic, err := driver.Decode(r.suite.Kind.Settings, driver.TopicScope, r.suite.Topic)
	if err != nil {
		t.Fatal(err)
	}
	return driver.Config{Target: target, Guarantee: g, Client: client, Topic: topic, Log: cmp.Or[io.Writer](r.log, io.Discard)}
}

// newTopology gives everything new names: topics outlive a session, and brokers remember subscriptions.
func newTopology(s shape) driver.Topology {
	stem := fmt.Sprintf("dt-%x-%d", time.Now().UnixNano()&0xffffffffff, sessions.Add(1))
	var t driver.Topology
	for i := range s.topics {
		t.Topics = append(t.Topics, driver.Topic{Name: fmt.Sprintf("%s-t%d", stem, i), Partitions: max(1, s.partitions)})
	}
	for i := range s.subscriptions {
		t.Subscriptions = append(t.Subscriptions, fmt.Sprintf("%s-s%d", stem, i))
	}
	return t
}

// open connects, sets up and starts consumers, and returns once all of them are ready. Call it before starting any goroutine of
// the test: goroutines that run by then count as allowed leftovers.
func (r *run) open(t *testing.T, g driver.Guarantee, sh shape) *session {
	t.Helper()
	return r.reopen(t, g, sh, newTopology(sh))
}

// reopen is open with a topology that may exist already.
func (r *run) reopen(t *testing.T, g driver.Guarantee, sh shape, topology driver.Topology) *session {
	t.Helper()
	config := r.config(t, g, r.target)
	s := &session{guarantee: g, topology: topology, left: r.leftovers()}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel() // breaks a driver that keeps ctx beyond the call
	if r.suite.Kind.Headerless(g, config.Client) == "" {
		s.carries, s.wanted = !sh.bare, wantedHeaders
	}
	drv, err := r.suite.Kind.Open(ctx, config)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	s.drv = drv
	if err := drv.Setup(ctx, s.topology); err != nil {
		_ = drv.Close()
		t.Fatalf("setup: %v", err)
	}
	for topic := range s.topology.Topics {
		var row []*tally
		for range s.topology.Subscriptions {
			row = append(row, newTally(topic, sh.apart, s.carries))
		}
		s.tallies = append(s.tallies, row)
	}
	if sh.shared {
		s.startConsumers(sh, 0, s.tallies[1:]...)
	} else {
		for topic := range s.tallies {
			s.startConsumers(sh, topic)
		}
	}
	t.Cleanup(func() { // ends a session that a Fatal cut short
		for _, c := range s.consumers {
			c.cancel()
		}
	})
	s.consumers = slices.DeleteFunc(s.consumers, func(c *consumer) bool {
		refused := g.Ordering == driver.Ordered && c.id > 0 && c.awaitRefusal()
		if !refused {
			c.awaitReady(t)
		}
		return refused
	})
	return s
}

// startConsumers starts the consumers of a topic, which read further topics over the same connections.
func (s *session) startConsumers(sh shape, topic int, further ...[]*tally) {
	for sub, a := range s.tallies[topic] {
		var also []*tally
		for _, other := range further {
			also = append(also, other[sub])
		}
		of := sh.of(sub)
		for id := range of {
			c := driver.ConsumerConfig{ID: id, Of: of, Topic: topic, Subscription: sub, Headers: s.wanted}
			s.consumers = append(s.consumers, startConsumer(s.drv, c, a, also...))
		}
	}
}

// lagging returns by how many messages the slowest subscription lags behind the senders.
func (s *session) lagging() int {
	sent := make([]int, len(s.tallies))
	for _, p := range s.all {
		for _, id := range p.sent {
			sent[id.topic()]++
		}
	}
	worst := 0
	for _, a := range slices.Concat(s.tallies...) {
		worst = max(worst, sent[a.topic]-a.received())
	}
	return worst
}

// caughtUp waits until every subscription has received all sent messages; it returns at once if a promise is already broken.
func (s *session) caughtUp() {
	eventually(patience, func() bool { return s.lagging() <= 0 || s.broken() })
}

func (s *session) broken() bool {
	for _, p := range s.all {
		if n, _ := p.slots.failed(); n > 0 || p.slots.faults.any() {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(s.tallies...), func(a *tally) bool { return a.faults.any() })
}

// close ends consumers and driver in the order of the contract: producers were closed before.
func (s *session) close(t *testing.T, healthy bool) {
	t.Helper()
	for _, c := range s.consumers {
		c.cancel()
	}
	for _, c := range s.consumers {
		c.stop(t, healthy)
	}
	if err := inTime(t, "Driver.Close", closeBound, s.drv.Close); healthy && err != nil {
		t.Errorf("closing the driver: %v", err)
	}
}

// leftovers are the goroutines that may remain after a session that begins now.
func (r *run) leftovers() []goleak.Option {
	left := []goleak.Option{goleak.IgnoreCurrent()}
	for _, function := range r.suite.Lingers {
		left = append(left, goleak.IgnoreAnyFunction(function))
	}
	return left
}

// leftovers returns the goroutines that the session left behind, after giving them time to end.
func (s *session) leftovers(except ...goleak.Option) string {
	var err error
	except = append(except, s.left...)
	for range 12 { // each Find already retries for about half a second
		if err = goleak.Find(except...); err == nil {
			return ""
		}
	}
	text := err.Error()
	if len(text) > 4000 {
		text = text[:strings.LastIndexByte(text[:4000], '\n')+1] + "…"
	}
	return text
}

// reportSlots reports the broken promises about slots.
func (s *session) reportSlots(t *testing.T) {
	t.Helper()
	for _, p := range s.all {
		p.slots.faults.report(t)
	}
}

// reportTallies reports wrong deliveries.
func (s *session) reportTallies(t *testing.T) {
	t.Helper()
	for _, a := range slices.Concat(s.tallies...) {
		a.faults.report(t)
	}
}
