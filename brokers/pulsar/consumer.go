package pulsar

import (
	"context"
	"fmt"
	"sync"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	// the most messages in one Deliver
	deliverMost = 1000
	// A consumer that is acknowledging to a broker that doesn't answer is waited for this long.
	leavePatience = time.Second
)

// Consume is one of the consumers of the subscription.
func (s *session) Consume(ctx context.Context, c driver.ConsumerConfig, sink driver.Sink, ready func()) error {
	g := s.config.Guarantee
	options := consumerOptions(g, s.config.Client)
	options.Topic, options.SubscriptionName = s.addressOf(s.topology.Topics[c.Topic].Outlet()), s.topology.Subscriptions[c.Subscription]
	options.Name = fmt.Sprintf("%s-%d", options.SubscriptionName, c.ID)
	if err := fits(s.config, driver.Shape{Consumers: c.ID + 1}); err != nil {
		return err
	}
	connected, err := s.connect(s.logged)
	if err != nil {
		return err
	}
	subscribed, err := s.subscribe(ctx, connected, options)
	if err != nil {
		go connected.Close()
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer within(releasePatience, func() {
		subscribed.Close()
		connected.Close()
	})
	r := &reader{consumer: subscribed, sink: sink, early: !driver.AcksAfter(g, s.config.Client), most: deliverMost, came: driver.NewBatch(c.Headers, 0), acks: g.Persistence != driver.Memory}
	if driver.UsesStock(s.config.Client) { // one by one
		r.most = 1
	}
	if g.Delivery != driver.AtLeastOnce && g.Persistence != driver.Memory {
		r.seen = s.seenBy(c)
		defer func() {
			if n := r.seen.repeated(); n > 0 {
				s.log.Warnf("subscription %s of %s: the broker delivered %d messages again; they were recognised", options.SubscriptionName, options.Topic, n)
			}
		}()
	}
	if err := s.awaitPermits(ctx, c.Topic, options); err != nil {
		return err
	}
	ready()
	r.run(ctx)
	return nil
}

// subscribe tries until ctx ends: topics may be moving to another broker.
func (s *session) subscribe(ctx context.Context, c client.Client, o client.ConsumerOptions) (client.Consumer, error) {
	for deadline := time.Now().Add(formPatience); ; {
		subscribed, err := c.Subscribe(o)
		if err == nil {
			return subscribed, nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, fmt.Errorf("subscribing to %s as %s: %w", o.Topic, o.SubscriptionName, err)
		}
		time.Sleep(retryPause)
	}
}

// awaitPermits waits until the broker may send to a consumer of a non-persistent topic: earlier messages are lost.
func (s *session) awaitPermits(ctx context.Context, topic int, o client.ConsumerOptions) error {
	if s.domain() == persistent {
		return nil
	}
	path := s.path(topic)
	parts := []string{path}
	if n := s.topology.Topics[topic].Partitions; n > 1 {
		parts = parts[:0]
		for i := range n {
			parts = append(parts, fmt.Sprintf("%s-partition-%d", path, i))
		}
	}
	for deadline := time.Now().Add(formPatience); len(parts) > 0; {
		n, err := s.admin.availablePermits(ctx, parts[0], o.SubscriptionName, o.Name)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && n > 0:
			parts = parts[1:]
		case time.Now().After(deadline):
			return fmt.Errorf("subscribing to %s as %s: the broker sends nothing to it: %w", o.Topic, o.SubscriptionName, err)
		default:
			time.Sleep(retryPause / 10)
		}
	}
	return nil
}

// reader delivers the messages of one consumer and acknowledges them.
type reader struct {
	consumer client.Consumer
	sink     driver.Sink
	early    bool // acknowledge before delivery
	most     int  // messages per Deliver
	acks     bool
	seen     *seen // nil if a message may be delivered twice
	messages []client.Message
	came     driver.Batch

	mu   sync.Mutex
	left bool // Consume has returned: nothing may be delivered any more
}

// run returns soon after ctx has ended, even if an acknowledgement still blocks in the client.
func (r *reader) run(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for r.gather(ctx) {
			r.handOn()
		}
	}()
	<-ctx.Done()
	select {
	case <-ended:
	case <-time.After(leavePatience):
	}
	r.mu.Lock()
	r.left = true
	r.mu.Unlock()
}

// gather waits for a message and takes the others that have arrived.
func (r *reader) gather(ctx context.Context) bool {
	clear(r.messages)
	r.messages = r.messages[:0]
	select {
	case <-ctx.Done():
		return false
	case m := <-r.consumer.Chan():
		r.messages = append(r.messages, m.Message)
	}
	for len(r.messages) < r.most {
		select {
		case m := <-r.consumer.Chan():
			r.messages = append(r.messages, m.Message)
		default:
			return true
		}
	}
	return true
}

func (r *reader) handOn() {
	if r.early {
		r.acknowledge()
	}
	if r.deliver() && !r.early {
		r.acknowledge()
	}
}

func (r *reader) deliver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return false
	}
	for _, m := range r.messages {
		if r.seen == nil || r.seen.first(m.ID()) {
			r.came.Add(m.Payload(), func(name string) []byte { return driver.Text(m.Properties(), name) })
		}
	}
	r.came.Deliver(r.sink)
	return true
}

// acknowledge passes acknowledgements to the client, which only returns errors for a closed consumer.
func (r *reader) acknowledge() {
	if !r.acks {
		return
	}
	for _, m := range r.messages {
		_ = r.consumer.AckID(m.ID())
	}
}
