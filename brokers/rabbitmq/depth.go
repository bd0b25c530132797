package rabbitmq

import "context"

// Depth is how many messages are ready in the subscription's queues, by passive declarations.
func (d *rabbit) Depth(_ context.Context, topic, subscription int) (n int64, err error) {
	for partition := range max(1, d.topo.Topics[topic].Partitions) {
		q, err := d.control.ch.QueueDeclarePassive(d.queue(topic, subscription, partition), d.durable || d.quorum, false, false, false, nil)
		if err != nil {
			return 0, err
		}
		n += int64(q.Messages)
	}
	return n, nil
}
