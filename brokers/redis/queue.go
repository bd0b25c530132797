package redis

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// streams drives streams, which keep messages, so that queues can be asked for; channels keep nothing.
type streams struct{ *session }

// Queue asks every stream of the topic for its subscription's group (XINFO): entries that the group has not read yet, and those
// that its consumers have not acknowledged.
func (d streams) Queue(ctx context.Context, topic, subscription int) (q driver.Queue, err error) {
	for _, stream := range d.streams[topic] {
		info, err := d.control.XInfoStream(ctx, stream).Result()
		if err != nil {
			return q, err
		}
		groups, err := d.control.XInfoGroups(ctx, stream).Result()
		if err != nil {
			return q, err
		}
		found := false
		for _, g := range groups {
			if g.Name != d.subscriptions[subscription] {
				continue
			}
			found = true
			q.Published += info.EntriesAdded
			q.Delivered += g.EntriesRead
			q.Unacked += g.Pending
			// The server's own lag is unknown if entries ahead of the group were deleted.
			q.Waiting += max(0, info.EntriesAdded-g.EntriesRead)
		}
		if !found {
			return q, fmt.Errorf("stream %s has no group %s", stream, d.subscriptions[subscription])
		}
	}
	return q, nil
}
