package pulsar

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// relays names the subscription of a topology's relays.
const relays = "relays"

// fitsRelays refuses relays that would keep less than the guarantee.
func fitsRelays(c driver.Config, s driver.Shape) error {
	asked := fmt.Sprintf("relays: %d", s.Relays)
	switch {
	case s.Relays == 0:
		return nil
	case c.Guarantee.Delivery == driver.ExactlyOnce:
		return driver.Unsupported(asked+" with delivery: exactly-once", leaked+"; allowed with delivery: at-least-once")
	case c.Guarantee.Delivery == driver.AtMostOnce:
		return driver.Unsupported(asked, "at most once a relay that is killed would produce again what it had not acknowledged; ask for at-least-once")
	case s.Relays > 1 && subscriptionType(c.Guarantee, c.Client) == client.Exclusive:
		return driver.Unsupported("client.subscriptionType: Exclusive", "a subscription then has one relay; Failover has more that take over")
	}
	return nil
}

// Relay is a consumer of the relays' subscription of every topic. It acknowledges a message when the broker has acknowledged the
// message produced from it.
func (s *session) Relay(ctx context.Context, c driver.RelayConfig, ready func()) error {
	if err := fits(s.config, s.topology.Shape()); err != nil {
		return err
	}
	known := sync.OnceFunc(ready)
	for {
		err := s.relay(ctx, c, known)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, new(*driver.ErrUnsupported)):
			return err
		}
		s.log.Warnf("relay %d begins again: %v", c.ID, err)
		if socket.Pause(ctx, retryPause) != nil { // unacknowledged messages are consumed again
			return nil
		}
	}
}

// relay relays until ctx ends or something fails.
func (s *session) relay(ctx context.Context, c driver.RelayConfig, known func()) error {
	connected, err := s.connect(s.logged)
	if err != nil {
		return err
	}
	r := &relay{
		connected: connected, to: map[string]client.Producer{},
		arrivals: make(chan client.ConsumerMessage, s.config.Client.Int("receiverQueueSize")),
	}
	defer within(releasePatience, func() {
		for _, consumer := range r.consumers {
			consumer.Close()
		}
		for _, producer := range r.producers {
			producer.Close()
		}
		connected.Close()
	})
	for i := range s.topology.Topics {
		if err := r.join(ctx, s, c, i); err != nil {
			return err
		}
	}
	known()
	return r.copy(ctx)
}

// relay is one client that consumes and produces.
type relay struct {
	connected client.Client
	arrivals  chan client.ConsumerMessage
	consumers []client.Consumer
	producers []client.Producer
	to        map[string]client.Producer // by consumed topic or partition
	open      sync.WaitGroup             // produced and unanswered messages

	mu     sync.Mutex
	failed error // their errors, joined
}

// relayed is a message that a relay produces. The client's message comes first, so that its router finds the partition.
type relayed struct {
	client.ProducerMessage
	partition int32
}

// join makes the consumer of a topic and the producer that passes its messages on to the partition of the same number, so that
// any relay keeps the order of a stream.
func (r *relay) join(ctx context.Context, s *session, c driver.RelayConfig, topic int) error {
	g, v, t := s.config.Guarantee, s.config.Client, s.topology.Topics[topic]
	out := producerOptions(g, v, deliverMost)
	out.Topic, out.Name = s.addressOf(t.Out), "brokermark-"+rand.Text()
	out.MessageRouter = func(m *client.ProducerMessage, _ client.TopicMetadata) int {
		return int((*relayed)(unsafe.Pointer(m)).partition)
	}
	producer, err := r.connected.CreateProducer(out)
	if err != nil {
		return fmt.Errorf("making a producer for %s: %w", out.Topic, err)
	}
	r.producers = append(r.producers, producer)
	in := consumerOptions(g, v)
	in.Topic, in.SubscriptionName, in.Name = s.addressOf(t.Name), relays, fmt.Sprintf("%s-%d", relays, c.ID)
	in.MessageChannel = r.arrivals
	consumer, err := s.subscribe(ctx, r.connected, in)
	if err != nil {
		return err
	}
	r.consumers = append(r.consumers, consumer)
	for i := range max(1, t.Partitions) {
		name := in.Topic
		if t.Partitions > 1 {
			name = fmt.Sprintf("%s-partition-%d", name, i)
		}
		r.to[name] = producer
	}
	return nil
}

// pass produces a consumed message; answers returns the outcome.
func (r *relay) pass(m client.ConsumerMessage) {
	out := &relayed{partition: max(0, m.ID().PartitionIdx())}
	out.Payload, out.Key, out.Properties = m.Payload(), m.Key(), m.Properties()
	r.open.Add(1)
	answered := sync.OnceFunc(r.open.Done)
	fail := func(err error) {
		r.mu.Lock()
		r.failed = errors.Join(r.failed, err)
		r.mu.Unlock()
	}
	defer func() {
		if recover() != nil { // the client closes its queue when it gives a topic up, even while it is in use
			fail(errLost)
			answered()
		}
	}()
	r.to[m.Topic()].SendAsync(context.Background(), &out.ProducerMessage, func(_ client.MessageID, _ *client.ProducerMessage, err error) {
		if err != nil {
			fail(err)
		}
		answered()
	})
}

// answers waits until every message is answered and returns their errors, joined.
func (r *relay) answers(ctx context.Context) error {
	answered := make(chan struct{})
	go func() {
		r.open.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// copy acknowledges consumed messages when everything produced from them is acknowledged.
func (r *relay) copy(ctx context.Context) error {
	var taken []client.ConsumerMessage
	for {
		taken = taken[:0]
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-r.arrivals:
			taken = append(taken, m)
		}
		for more := true; more && len(taken) < deliverMost; {
			select {
			case m := <-r.arrivals:
				taken = append(taken, m)
			default:
				more = false
			}
		}
		for _, m := range taken {
			r.pass(m)
		}
		if err := r.answers(ctx); err != nil {
			return err
		}
		for _, m := range taken {
			if err := m.AckID(m.ID()); err != nil {
				return err
			}
		}
	}
}
