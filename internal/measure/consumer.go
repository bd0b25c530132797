package measure

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/wire"
)

// Consumer records the messages that one consumer receives. It belongs to one goroutine at a time.
//
// For example, a producer sends the numbers 100 to 149 in this trial. Of the deliveries 99, 100, 100, 102, 101 and 150, the first is
// stale, which is to say of an earlier trial, and the last is corrupted, because 150 was never sent. 100, 102 and 101 are received; 100 is
// duplicated once, and 101 is reordered.
type Consumer struct {
	trial        *Trial
	counters     *counters
	subscription int
	keys         KeyOf // nil if order is not promised per key
	lags         bool  // see Lag

	// The batch since the last Commit.
	arrivals arrivals
	endToEnd phasedBatch // received − intended
	service  phasedBatch // received − sent
}

// KeyOf returns the number of the key that message seq of a producer carries, below Shape.Keys. It must be a pure function.
type KeyOf func(producer int, seq uint64) int

// Consumer returns a recorder for consumer i of a subscription. keys is nil if order is not promised per key.
func (t *Trial) Consumer(i, subscription int, keys KeyOf) *Consumer {
	return &Consumer{trial: t, counters: t.countersOf(i), subscription: subscription, keys: keys}
}

// Lag marks the consumer as one that lags behind the others: it drains a backlog while the others receive new messages. Its
// deliveries and end-to-end latencies are booked apart. It comes before the first Received, and returns c.
func (c *Consumer) Lag() *Consumer {
	c.lags = true
	return c
}

// Received books one delivery at now whose checksum is right, or which has none. Commit publishes it. If the phase of a
// delivery is unknown, it counts in the measured one.
func (c *Consumer) Received(h *wire.Header, now int64) {
	producer, seq := int(h.ID.Producer()), h.ID.Seq()
	if producer >= len(c.trial.streams) {
		c.counters.corrupted[Measured].Add(1)
		return
	}
	s := &c.trial.streams[producer]
	if seq < s.base {
		c.counters.stale[Measured].Add(1)
		return
	}
	n := seq - s.base
	phase, sent := c.phaseOf(s, n, h)
	if !sent {
		c.counters.corrupted[phase].Add(1)
		return
	}
	l := &s.ledgers[c.subscription]
	var nextOfKey *atomic.Uint64
	if c.keys != nil && l.keys > 0 {
		nextOfKey = l.nextWith(c.keys(producer, seq))
	}
	if isNew := c.arrivals.add(l, n, nextOfKey, phase, now); isNew {
		c.addLatencies(s, n, h, phase, now)
	}
}

// phaseOf returns the phase of message n of a stream, and whether the message was sent. Which numbers were sent is known of
// producers in this process. The others are on another host (Trial.SetHost), or in another process of this one
// (Shape.Apart). Of theirs, each message that carries its times counts as sent, and its intended time determines its phase.
func (c *Consumer) phaseOf(s *stream, n uint64, h *wire.Header) (phase Phase, sent bool) {
	switch {
	case n < s.end.Load(): // end stays 0 if the producer is not in this process
		return s.phase(n), true
	case h.Timed && s.host != nil:
		return s.host.phase(h.Intended), true
	case h.Timed && c.trial.apart:
		return c.trial.phase(h.Intended), true
	}
	return s.phase(n), false
}

// addLatencies adds the latencies of message n of a stream, which was received at now.
func (c *Consumer) addLatencies(s *stream, n uint64, h *wire.Header, phase Phase, now int64) {
	intended, sent, known := s.timesOf(n, h)
	if !known {
		c.counters.untimed[phase].Add(1)
		return
	}
	if s.host != nil && sent > now { // its clock and ours are off
		c.counters.addEarly(sent - now)
	}
	if c.lags {
		c.counters.endToEndLagging.add(&c.endToEnd, phase, now-intended)
		return
	}
	c.counters.endToEnd.add(&c.endToEnd, phase, now-intended)
	c.counters.endToEndService.add(&c.service, phase, now-sent)
}

// timesOf returns the times of message n, ns on our axis; known is false if they are no longer kept.
func (s *stream) timesOf(n uint64, h *wire.Header) (intended, sent int64, known bool) {
	switch {
	case h.Timed && s.host != nil:
		return s.host.axis.OurTime(h.Intended), s.host.axis.OurTime(h.Sent), true
	case h.Timed:
		return h.Intended, h.Sent, true
	case s.times != nil:
		return s.times.look(n)
	}
	return 0, 0, false
}

// Commit publishes the batch booked by Received.
func (c *Consumer) Commit() {
	received := c.arrivals.flush() // first: a message that counts as received must be in its ledger
	if c.lags {
		c.counters.endToEndLagging.flush(&c.endToEnd)
		c.counters.lagging.add(received)
	} else {
		c.counters.endToEnd.flush(&c.endToEnd)
		c.counters.endToEndService.flush(&c.service)
	}
	c.counters.received.add(received)
}

// Corrupted books a delivery whose checksum is wrong. Its identity can't be trusted, so the message that it was counts as lost as well.
func (c *Consumer) Corrupted(now int64) { c.counters.corrupted[c.trial.phase(now)].Add(1) }
