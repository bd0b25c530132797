package rabbitmq

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/driver"
)

// watched adds the management plugin to a server's settings, with statistics every second instead of every five.
func watched(settings map[string]any) map[string]any {
	return driver.Completed(settings, map[string]any{rabbitserver.EnabledPlugins: rabbitserver.Management, "collect_statistics_interval": 1000})
}

// Queue counts the ready messages of the subscription's queues by passive declarations, which are always current. If the server
// has its management interface, the other figures come from there; they are up to a second old.
func (d *rabbit) Queue(ctx context.Context, topic, subscription int) (q driver.Queue, err error) {
	q = driver.Queue{Unacked: driver.Unknown, Published: driver.Unknown, Delivered: driver.Unknown}
	if d.control.dead() {
		d.control.close()
		if d.control, err = d.dial(ctx, 0); err != nil {
			return q, err
		}
	}
	defer d.control.bound(ctx)()
	base := d.cfg.Target.Endpoints[rabbitserver.ManagementRole]
	if base != "" {
		q.Unacked, q.Published, q.Delivered, q.Memory = 0, 0, 0, new(int64)
	}
	for partition := range max(1, d.topo.Topics[topic].Partitions) {
		name := d.queue(topic, subscription, partition)
		declared, err := d.control.ch.QueueDeclarePassive(name, d.durable || d.quorum, false, false, false, nil)
		if err != nil {
			return q, err
		}
		q.Waiting += int64(declared.Messages)
		if base == "" {
			continue
		}
		s, err := d.managed(ctx, base, name)
		if err != nil {
			return q, err
		}
		q.Unacked += s.Unacknowledged
		q.Published += s.Stats.Publish
		q.Delivered += s.Stats.DeliverGet
		*q.Memory += s.Memory
		if s.Capacity > 0 && (q.Capacity == nil || s.Capacity < *q.Capacity) { // 0 without consumers, and before the first message
			q.Capacity = new(s.Capacity)
		}
	}
	return q, nil
}

// managedQueue is a queue as the management interface describes it.
type managedQueue struct {
	Unacknowledged int64   `json:"messages_unacknowledged"`
	Memory         int64   `json:"memory"`
	Capacity       float64 `json:"consumer_capacity"`
	Stats          struct {
		Publish    int64 `json:"publish"`
		DeliverGet int64 `json:"deliver_get"`
	} `json:"message_stats"`
}

const (
	managementTime   = 2 * time.Second
	managementAnswer = 1 << 20
)

func (d *rabbit) managed(ctx context.Context, base, queue string) (s managedQueue, err error) {
	ctx, cancel := context.WithTimeout(ctx, managementTime)
	defer cancel()
	where := base + "/api/queues/" + url.PathEscape(d.cfg.Client.String("vhost")) + "/" + url.PathEscape(queue)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return s, err
	}
	r.SetBasicAuth(d.cfg.Target.User, d.cfg.Target.Password)
	a, err := d.web.Do(r)
	if err != nil {
		return s, err
	}
	defer a.Body.Close()
	text, err := bounded.All(a.Body, managementAnswer)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("the management interface answers %s", a.Status)
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}
