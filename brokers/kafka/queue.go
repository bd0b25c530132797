package kafka

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// Queue returns the consumer group's lag: the messages of each partition after the group's committed offset. Kafka doesn't know
// which messages it has handed out, so Waiting includes uncommitted ones that consumers hold, and Delivered is the committed
// number. Offsets of transactions' markers count as messages.
func (k *kafka) Queue(ctx context.Context, topic, subscription int) (driver.Queue, error) {
	name := k.topology.Topics[topic].Name
	ends, err := k.admin.ListEndOffsets(ctx, name)
	if err != nil {
		return driver.Queue{}, err
	}
	if shares(k.config.Client) {
		return k.shared(ctx, name, groupOf(k.topology, name, k.topology.Subscriptions[subscription]), ends)
	}
	committed, err := k.admin.FetchOffsets(ctx, groupOf(k.topology, name, k.topology.Subscriptions[subscription]))
	if err != nil {
		return driver.Queue{}, err
	}
	q := driver.Queue{Unacked: driver.Unknown}
	for partition, end := range ends[name] {
		if end.Err != nil {
			return driver.Queue{}, end.Err
		}
		q.Published += end.Offset
		if at, ok := committed.Lookup(name, partition); ok && at.Err == nil && at.At > 0 {
			q.Delivered += at.At
		}
	}
	q.Waiting = max(0, q.Published-q.Delivered)
	return q, nil
}
