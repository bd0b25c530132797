package natsio

import (
	"sync"

	"github.com/nats-io/nats.go"
)

// drops counts the messages that the client has dropped because the pending limit of a subscription, or its channel, was
// full. The client reports a subscription when it begins to drop, and counts further drops by itself.
type drops struct {
	mu   sync.Mutex
	seen map[*nats.Subscription]int64 // the last count read: a closed subscription has none
}

// watch adds a subscription that has begun to drop.
func (d *drops) watch(s *nats.Subscription) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[*nats.Subscription]int64{}
	}
	if _, known := d.seen[s]; !known {
		d.seen[s] = 0
	}
}

// sum returns the number of messages over all subscriptions.
func (d *drops) sum() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all int64
	for s, last := range d.seen {
		if n, err := s.Dropped(); err == nil {
			last = int64(n)
			d.seen[s] = last
		}
		all += last
	}
	return all
}

// Dropped implements driver.Dropper for the subscriptions of all connections.
func (d *Dialer) Dropped() int64 { return d.drops.sum() }
