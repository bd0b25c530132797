package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/internal/driver"
)

// Queue asks the stream and the subscription's durable consumer. Messages that were taken away count as published: the
// stream's sequence goes on.
func (s *session) Queue(ctx context.Context, topic, subscription int) (driver.Queue, error) {
	js, err := jetstream.New(s.conn.Conn)
	if err != nil {
		return driver.Queue{}, err
	}
	name := entityName(s.subjects[topic])
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return driver.Queue{}, err
	}
	c, err := js.Consumer(ctx, name, s.subscriptions[subscription])
	if err != nil {
		return driver.Queue{}, err
	}
	i := c.CachedInfo()
	return driver.Queue{
		Waiting: int64(i.NumPending), Unacked: int64(i.NumAckPending),
		Published: int64(stream.CachedInfo().State.LastSeq), Delivered: int64(i.Delivered.Consumer),
	}, nil
}
