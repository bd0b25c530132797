package measure

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/wire"
)

// Consumer records the messages that one consumer receives. It belongs to one goroutine at a time.
type Consumer struct {
	trial        *Trial
	lane         *lane
	subscription int
	keys         KeyOf

	// The batch since the last Commit.
	received Tally
	run      run
	now      int64              // when its last message came, ns on the clock's axis
	endToEnd [phases]hist.Batch // received − intended
	service  [phases]hist.Batch // received − sent
}

// KeyOf returns the number of the key that message seq of a producer carries, below Shape.Keys. It must be a pure function.
type KeyOf func(producer int, seq uint64) int

// Consumer returns a recorder for consumer i of a subscription. keys is nil if order is not promised per key.
func (t *Trial) Consumer(i, subscription int, keys KeyOf) *Consumer {
	return &Consumer{trial: t, lane: t.lane(i), subscription: subscription, keys: keys}
}

// Received books one delivery at now whose checksum is right. Commit publishes it.
func (c *Consumer) Received(h wire.Header, now int64) {
	producer, seq := int(h.ID.Producer()), h.ID.Seq()
	if producer >= len(c.trial.streams) {
		c.lane.corrupted[Measured].Add(1) // nothing tells its phase
		return
	}
	s := &c.trial.streams[producer]
	if seq < s.base {
		c.lane.stale[Measured].Add(1)
		return
	}
	n := seq - s.base
	phase := s.phase(n)
	if n >= s.end.Load() {
		var possible bool
		if phase, possible = c.phaseElsewhere(s, &h, phase); !possible {
			c.lane.corrupted[phase].Add(1)
			return
		}
	}
	l := &s.ledgers[c.subscription]
	if l != c.run.ledger || n/64 != c.run.word {
		c.publishRun()
	}
	c.now = now
	var keyNext *atomic.Uint64
	if c.keys != nil && l.keys > 0 {
		keyNext = l.nextOf(c.keys(producer, seq))
	}
	if first := c.run.take(l, n, keyNext, phase, now); !first {
		return
	}
	intended, sent := h.Intended, h.Sent
	if !h.Timed || s.host != nil {
		var known bool
		if intended, sent, known = c.timesElsewhere(s, n, &h, now); !known {
			c.lane.untimed[phase].Add(1)
			return
		}
	}
	c.lane.endToEnd[phase].Add(&c.endToEnd[phase], now-intended)
	c.lane.endToEndService[phase].Add(&c.service[phase], now-sent)
}

// phaseElsewhere returns the phase of a message that was not sent by this process, and whether another process can have sent it. If
// not, its identity is taken for damaged, and its phase is otherwise.
func (c *Consumer) phaseElsewhere(s *stream, h *wire.Header, otherwise Phase) (phase Phase, possible bool) {
	switch {
	case s.host != nil && h.Timed:
		return s.host.phase(h.Intended), true
	case c.trial.apart && h.Timed:
		return c.trial.phase(h.Intended), true
	}
	return otherwise, false
}

// timesElsewhere returns the times of message n, ns on our axis, if the payload has none or has those of another host; known is false if
// nobody has them.
func (c *Consumer) timesElsewhere(s *stream, n uint64, h *wire.Header, now int64) (intended, sent int64, known bool) {
	intended, sent, known = h.Intended, h.Sent, h.Timed
	if !known && s.times != nil {
		intended, sent, known = s.times.look(n)
	}
	if known && s.host != nil {
		intended, sent = s.host.here(c.lane, intended, sent, now)
	}
	return intended, sent, known
}

// Commit publishes the batch booked by Received.
func (c *Consumer) Commit() {
	c.publishRun()
	for phase := range phases {
		c.lane.endToEnd[phase].Flush(&c.endToEnd[phase])
		c.lane.endToEndService[phase].Flush(&c.service[phase])
		if c.received[phase] > 0 {
			c.lane.received[phase].Add(c.received[phase])
			c.received[phase] = 0
		}
	}
}

// publishRun writes the run under way into its ledger.
func (c *Consumer) publishRun() {
	for phase, n := range c.run.publish(c.now) {
		c.received[phase] += n
	}
}

// Corrupted books a delivery whose checksum is wrong. Its identity can't be trusted, so the message that it was counts as lost as well.
func (c *Consumer) Corrupted(now int64) { c.lane.corrupted[c.trial.phase(now)].Add(1) }
