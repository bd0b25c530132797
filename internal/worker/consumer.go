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
	shortest    int          // bytes of the shortest payload sent
	found       bool         // the topics hold messages of other programs
	headers     headers      // that messages carry
	probes      *Probes      // of the worker; probes among the messages are noted there
	application *application // works on each message; nil: messages are only counted
	first, last atomic.Int64 // when the first and the last counted message of the trial came, ns on the clock's axis; 0: none did

	mu       sync.Mutex        // held while delivering: books are closed between two batches, not within one
	recorder *measure.Consumer // nil between trials
	others   int64             // messages of other programs that came while there was a recorder
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
	inBody := !c.headers.any() // fast path of most messages, which headers.read would make 10 ns slower
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

// isOwn reports whether this run sent, or may have sent, a message. The stamp of an intact message names its run, so messages
// that an earlier run left on the broker are recognised, even if their payloads are shorter. In a topic of other programs, a
// message without a readable run is taken to be theirs: if one of ours is damaged there, it looks lost.
func (c *consumer) isOwn(run uint16, status wire.Status) bool {
	if c.found && status != wire.OK {
		return status == wire.Damaged && run == c.run
	}
	return status != wire.OK || run == c.run
}
