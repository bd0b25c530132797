package jetstream

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/internal/driver"
)

// Queue asks the stream and the subscription's durable consumer. Removed messages count as published, because the stream's
// sequence includes them.
func (s *session) Queue(ctx context.Context, topic, subscription int) (driver.Queue, error) {
	js, err := jetstream.New(s.conn.Conn)
	if err != nil {
		return driver.Queue{}, err
	}
	name := s.stream(s.subjects[topic])
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return driver.Queue{}, err
	}
	if isOrdered(s.config.Client) {
		return followed(ctx, stream, s.subscriptions[subscription])
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

// followed is the queue of an ordered consumer: the stream from the furthest place of the consumers that the client made on the
// server. If it has made none, nothing was delivered.
func followed(ctx context.Context, stream jetstream.Stream, subscription string) (driver.Queue, error) {
	state := stream.CachedInfo().State
	q := driver.Queue{Waiting: int64(state.Msgs), Published: int64(state.LastSeq)}
	consumers := stream.ListConsumers(ctx)
	for c := range consumers.Info() {
		if at := int64(c.Delivered.Stream); strings.HasPrefix(c.Name, subscription+"-") && at > q.Delivered {
			q.Waiting, q.Delivered = int64(c.NumPending), at
		}
	}
	return q, consumers.Err()
}
