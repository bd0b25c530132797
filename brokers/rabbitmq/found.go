package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/internal/driver"
)

// finds implements driver.Kind.Found: such a topic is a queue. Reading a message removes it, so the queue must be unused by others.
func finds(_ driver.Config, s driver.Shape) error {
	switch {
	case s.Past || s.Producers == 0:
		return driver.Unsupported("measure: read", "to read a queue is to remove what others have in it")
	case s.Subscriptions != 1:
		return driver.Unsupported(fmt.Sprintf("subscriptionsPerTopic: %d", s.Subscriptions), "queue %s is one subscription", s.Topic)
	case s.Partitions > 1:
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "queue %s is one", s.Topic)
	}
	return nil
}

// find refuses a queue that does not exist, or that others use.
func (d *rabbit) find(ctx context.Context) error {
	return d.each(ctx, func(_ *amqp.Channel, topic int) error {
		ch, err := d.control.conn.Channel() // the broker closes it if there is no such queue
		if err != nil {
			return fmt.Errorf("open a channel: %w", err)
		}
		defer ch.Close()
		name := d.topo.Topics[topic].Name
		queue, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
		refused := (*amqp.Error)(nil)
		refuse := func(reason string, args ...any) error { return driver.Unsupported("topicName: "+name, reason, args...) }
		switch {
		case errors.As(err, &refused) && refused.Code == amqp.NotFound:
			return refuse("there is no such queue; without topicName, one is made")
		case err != nil:
			return fmt.Errorf("ask for queue %s: %w", name, err)
		case d.topo.Existing: // its messages and consumers belong to this run
		case queue.Messages > 0:
			return refuse("the queue holds %d messages, which a consumer would take away; allowed: an empty one", queue.Messages)
		case queue.Consumers > 0:
			return refuse("the queue has %d consumers, which would take messages away; allowed: one without", queue.Consumers)
		}
		return nil
	})
}
