package worker

import (
	"sync"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// consumer is the driver.Sink of one consumer: the driver delivers messages to it, and it books them in the trial that is
// running. A driver may deliver from several goroutines, but one at a time (driver.OneAtATime). The messages of a batch came together.
type consumer struct {
	index       int // among the worker's consumers
	config      driver.ConsumerConfig
	run         uint16       // Plan.Run: messages of other runs are ignored
	shortest    int          // bytes of the shortest payload that is sent
	found       bool         // the topics hold messages of others
	headers     headers      // that messages carry
	probes      *Probes      // of the worker; probes among the messages are noted there
	application *application // works on each message; nil: messages are only counted
	first, last atomic.Int64 // when the first and the last counted message of the trial came, ns on the clock's axis; 0: none did

	mu       sync.Mutex        // held while delivering: books are closed between two batches, not within one
	recorder *measure.Consumer // nil between trials
	others   int64             // messages of others that came while there was a recorder
}

// bookWith books the deliveries from now on with r. If r is nil, they are not booked. It waits for a batch that is being booked.
func (c *consumer) bookWith(r *measure.Consumer) {
	c.mu.Lock()
	c.recorder = r
	c.mu.Unlock()
}

// Deliver books a batch and lets the application work on it.
func (c *consumer) Deliver(batch []driver.Received) {
	if c.application == nil {
		c.book(batch)
		return
	}
	c.application.process(batch, c.book)
}

// book books messages and reports whether any of them was counted as received. They came together, so the clock is read once for
// all.
func (c *consumer) book(batch []driver.Received) bool {
	now := clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	recorder := c.recorder
	counted := false
	inBody := !c.headers.any() // of most messages, which headers.read would make 10 ns slower
	var h wire.Header          // of one message after the other
	for i := range batch {
		m := &batch[i]
		var status wire.Status
		if inBody {
			status = h.Read(wire.Split(m.Payload))
		} else {
			status = c.headers.read(&h, m, c.run)
		}
		if !c.isOwn(h.Run, status) {
			if recorder != nil {
				c.others++
			}
			continue
		}
		cut := len(m.Payload) < c.shortest // Header.Read doesn't notice that if the checksum was cut off, too
		corrupt := status.Corrupt() || cut
		probe := !corrupt && h.ID.Seq()&probeBit != 0
		switch {
		case probe:
			c.probes.receive(int(h.ID.Producer()), c.config.Subscription)
		case recorder == nil: // between trials, only probes are of interest
		case corrupt:
			recorder.Corrupted(now)
		default:
			recorder.Received(&h, now)
			counted = true
		}
	}
	if counted {
		recorder.Commit()
		if c.first.Load() == 0 {
			c.first.Store(now)
		}
		c.last.Store(now)
	}
	return counted
}

// isOwn reports whether this run sent a message that says of which run it is, or may have: one that an earlier run left on the broker it did not, whose payloads may have been
// shorter. In a topic of others, what doesn't say that it is of this run is theirs, so damage to that part of a message of ours looks as if it were
// lost.
func (c *consumer) isOwn(run uint16, status wire.Status) bool {
	if c.found && status != wire.OK {
		return status == wire.Damaged && run == c.run
	}
	return status != wire.OK || run == c.run
}
