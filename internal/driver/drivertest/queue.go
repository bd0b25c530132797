package drivertest

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// queue lets messages wait, asks the broker for their number, has them consumed and asks again.
func (r *run) queue(t *testing.T, g driver.Guarantee) {
	s := r.open(t, g, shape{topics: 1, subscriptions: 1})
	gauge, ok := s.drv.(driver.Gauge)
	if !ok {
		s.close(t, true)
		testkit.Without(t, "this driver asks its broker for no queue")
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionBound)
	defer cancel()
	p := s.newSender(t, 0, 0)
	p.deliver(t, perTopic)
	is := func(n, want int64) bool { return n == want || n == driver.Unknown }
	look := func(done func(q driver.Queue) bool) {
		t.Helper()
		var q driver.Queue
		var err error
		if !eventually(patience, func() bool { q, err = gauge.Queue(ctx, 0, 0); return err == nil && done(q) }) {
			t.Errorf("of %d messages the broker says %+v, %v", perTopic, q, err)
		}
	}
	look(func(q driver.Queue) bool { // a batch may count as one
		return q.Waiting > 0 && q.Waiting <= perTopic && (r.suite.QueuedInBatches || q.Waiting == perTopic) &&
			is(q.Published, perTopic) && is(q.Delivered, 0) && is(q.Unacked, 0)
	})
	c := startConsumer(s.drv, driver.ConsumerConfig{Of: 1}, s.tallies[0][0])
	s.consumers = append(s.consumers, c)
	c.awaitReady(t)
	s.caughtUp()
	look(func(q driver.Queue) bool { return q.Waiting == 0 && is(q.Unacked, 0) && is(q.Delivered, perTopic) })
	p.close(t, true)
	s.close(t, true)
}
