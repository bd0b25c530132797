package pulsar

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// Queue asks the admin interface. Pulsar counts a subscription's backlog in entries: messages that a producer sent as one batch count as
// one. The backlog includes unacknowledged messages that consumers hold; the counters restart when the topic moves to another broker.
func (s *session) Queue(ctx context.Context, topic, subscription int) (driver.Queue, error) {
	f, err := s.admin.traffic(ctx, s.path(topic), s.topology.Topics[topic].Partitions > 1)
	if err != nil {
		return driver.Queue{}, err
	}
	name := s.topology.Subscriptions[subscription]
	of, ok := f.Subscriptions[name]
	if !ok {
		return driver.Queue{}, fmt.Errorf("topic %s has no subscription %s", s.topology.Topics[topic].Name, name)
	}
	return driver.Queue{Waiting: of.MsgBacklog, Unacked: of.UnackedMessages, Published: f.MsgInCounter, Delivered: of.MsgOutCounter}, nil
}
