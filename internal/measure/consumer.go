package measure

import (
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/wire"
)

// Consumer records what one consumer receives. It is used by one goroutine at a time.
type Consumer struct {
	trial        *Trial
	lane         *lane
	subscription int
	keys         KeyOf
	received     Tally // of the batch being booked
	run          run
	now          int64 // of the last delivery booked
	endToEnd     [phases]hist.Batch
	service      [phases]hist.Batch
}

// KeyOf tells which key message seq of a producer carries, -1 for none. It must be a pure function.
type KeyOf func(producer int, seq uint64) int

// Consumer returns a recorder for consumer i, which belongs to subscription. keys may be nil.
func (t *Trial) Consumer(i, subscription int, keys KeyOf) *Consumer {
	return &Consumer{trial: t, lane: t.lane(i), subscription: subscription, keys: keys}
}

// Commit publishes the batch booked by Received.
func (c *Consumer) Commit() {
	c.tally()
	for phase := range phases {
		c.lane.endToEnd[phase].Flush(&c.endToEnd[phase])
		c.lane.endToEndService[phase].Flush(&c.service[phase])
		if c.received[phase] > 0 {
			c.lane.received[phase].Add(c.received[phase])
			c.received[phase] = 0
		}
	}
}

// Received books one intact delivery at now; Commit counts it.
func (c *Consumer) Received(h wire.Header, now int64) {
	producer, seq := int(h.ID.Producer()), h.ID.Seq()
	if producer >= len(c.trial.streams) {
		c.lane.corrupted[Measured].Add(1)
		return
	}
	s := &c.trial.streams[producer]
	if seq < s.base {
		c.lane.stale[Measured].Add(1)
		return
	}
	n := seq - s.base
	var phase Phase
	switch {
	case n < s.end.Load():
		phase = s.phase(n)
	case s.host != nil && h.Timed: // what has been sent is known there
		phase = s.host.phase(h.Intended)
	case c.trial.apart && h.Timed:
		phase = c.trial.phase(h.Intended)
	default:
		c.lane.corrupted[s.phase(n)].Add(1) // never sent: a damaged identity
		return
	}
	key := -1
	if c.keys != nil {
		key = c.keys(producer, seq)
	}
	l := &s.ledgers[c.subscription]
	if l != c.run.ledger || n>>6 != c.run.word {
		c.tally()
	}
	c.now = now
	if !c.run.take(l, n, key, phase, now) {
		return
	}
	intended, sent := h.Intended, h.Sent
	if !h.Timed {
		var ok bool
		if s.times != nil {
			intended, sent, ok = s.times.look(n)
		}
		if !ok {
			c.lane.untimed[phase].Add(1)
			return
		}
	}
	if s.host != nil {
		intended, sent = s.host.here(c.lane, intended, sent, now)
	}
	c.lane.endToEnd[phase].Add(&c.endToEnd[phase], now-intended)
	c.lane.endToEndService[phase].Add(&c.service[phase], now-sent)
}

// tally publishes the run being gathered.
func (c *Consumer) tally() {
	for phase, n := range c.run.publish(c.now) {
		c.received[phase] += n
	}
}

// Corrupted books a delivery whose checksum doesn't match; which message it was can't be trusted, so that message
// counts as lost as well.
func (c *Consumer) Corrupted(now int64) {
	phase := Warmup
	if now >= c.trial.from.Load() {
		phase = Measured
	}
	c.lane.corrupted[phase].Add(1)
}
