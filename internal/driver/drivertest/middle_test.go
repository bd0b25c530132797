package drivertest_test

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// middle puts a defect between producer and receipts, or between consumer and sink.
type middle struct {
	driver.Driver
	receipts func(driver.Receipts) driver.Receipts
	headers  func(driver.Received) driver.Received
}

func (m middle) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if m.headers != nil {
		s = changed{s, m.headers}
	}
	return m.Driver.Consume(ctx, c, s, ready)
}

// changed changes what is delivered.
type changed struct {
	driver.Sink
	by func(driver.Received) driver.Received
}

func (c changed) Deliver(batch []driver.Received) {
	for i := range batch {
		batch[i] = c.by(batch[i])
	}
	c.Sink.Deliver(batch)
}

func (m middle) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if m.receipts != nil {
		r = m.receipts(r)
	}
	return m.Driver.Producer(ctx, c, r)
}
