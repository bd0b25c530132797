package worker

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// consumer is the Sink of one consumer.
type consumer struct {
	index        int
	subscription int
	run          uint16
	probed       *probed
	recorder     atomic.Pointer[measure.Consumer] // nil between trials
	last         atomic.Int64                     // when a counted message last came
}

func newConsumer(i int, c driver.ConsumerConfig, w *Worker) *consumer {
	return &consumer{index: i, subscription: c.Subscription, run: w.plan.Run, probed: w.probed}
}

// Deliver books a batch; one clock reading serves all of it, since it came in one piece.
func (c *consumer) Deliver(batch [][]byte) {
	now := clock.Now()
	recorder := c.recorder.Load()
	counted := false
	for _, payload := range batch {
		h, status := wire.Read(payload)
		switch {
		case status.Corrupt():
			if recorder != nil {
				recorder.Corrupted(now)
			}
		case status == wire.OK && h.Run != c.run:
			// Left on the broker by an earlier run.
		case h.ID.Seq()&probeBit != 0:
			c.probed.at(int(h.ID.Producer()), c.subscription).Store(true)
		case recorder != nil:
			recorder.Received(h, now)
			counted = true
		}
	}
	if counted {
		recorder.Commit()
		c.last.Store(now)
	}
}
