package worker

import (
	"sync"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// consumer is the Sink of one consumer.
type consumer struct {
	index        int
	subscription int
	run          uint16
	shortest     int // of the payloads that are sent
	probed       *probed
	application  *application // nil: it only counts
	first, last  atomic.Int64 // when a counted message first and last came

	mu       sync.Mutex        // held while delivering: books are closed between two batches, not within one
	recorder *measure.Consumer // nil between trials
}

// listen has deliveries from now on booked by r; nil: not at all. It waits for the batch being delivered.
func (c *consumer) listen(r *measure.Consumer) {
	c.mu.Lock()
	c.recorder = r
	c.mu.Unlock()
}

// Deliver books a batch and has the application work on it.
func (c *consumer) Deliver(batch [][]byte) {
	if c.application == nil {
		c.book(batch)
		return
	}
	c.application.each(batch, c.book)
}

// book books messages and tells whether any of them counts; one clock reading serves all, since they came in one piece.
func (c *consumer) book(batch [][]byte) bool {
	now := clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	recorder := c.recorder
	counted := false
	for _, payload := range batch {
		h, status := wire.Read(payload)
		switch {
		case status.Corrupt(), len(payload) < c.shortest: // one that was cut may lack its checksum
			if recorder != nil {
				recorder.Corrupted(now)
			}
		case status == wire.OK && h.Run != c.run:
			// Left on the broker by an earlier run.
		case h.ID.Seq()&probeBit != 0:
			c.probed.came(int(h.ID.Producer()), c.subscription)
		case recorder != nil:
			recorder.Received(h, now)
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
