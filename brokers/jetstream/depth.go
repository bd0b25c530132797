package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// Depth is how many messages of the stream the durable consumer has not been given yet.
func (s *session) Depth(ctx context.Context, topic, subscription int) (int64, error) {
	js, err := jetstream.New(s.conn.Conn)
	if err != nil {
		return 0, err
	}
	c, err := js.Consumer(ctx, entityName(s.subjects[topic]), s.subscriptions[subscription])
	if err != nil {
		return 0, err
	}
	i, err := c.Info(ctx)
	if err != nil {
		return 0, err
	}
	return int64(i.NumPending), nil
}
