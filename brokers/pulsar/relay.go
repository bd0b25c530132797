package pulsar

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

// relays names the subscription of a topology's relays.
const relays = "relays"

// Relay is a consumer of the relays' subscription of every topic. Exactly once its transactions hold what it produced and the
// acknowledgements of what it consumed; one that a killed relay left open the broker aborts when its time is over.
func (s *session) Relay(ctx context.Context, c driver.RelayConfig, ready func()) error {
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
		select { // what was not acknowledged is consumed again
		case <-ctx.Done():
			return nil
		case <-time.After(retryPause):
		}
	}
}

// relay relays until ctx ends or something fails.
func (s *session) relay(ctx context.Context, c driver.RelayConfig, known func()) error {
	g, v := s.config.Guarantee, s.config.Client
	connect := s.connect
	if g.Delivery == driver.ExactlyOnce {
		connect = s.connectTransacting
	}
	connected, err := connect()
	if err != nil {
		return err
	}
	r := &relay{
		connected: connected, every: v.Duration("commitInterval"), longest: v.Duration("transactionTimeout"), out: &outlet{},
		arrivals: make(chan client.ConsumerMessage, v.Int("receiverQueueSize")), to: map[string]client.Producer{}, parts: map[position][]client.ConsumerMessage{},
	}
	defer within(releasePatience, func() {
		for _, consumer := range r.consumers {
			consumer.Close()
		}
		r.out.close()
		release(connected)
	})
	for i := range s.topology.Topics {
		if err := r.join(ctx, s, c, i); err != nil {
			return err
		}
	}
	known()
	if g.Delivery == driver.ExactlyOnce {
		return r.transact(ctx)
	}
	return r.copy(ctx)
}

// relay is one client that consumes and produces.
type relay struct {
	connected client.Client
	every     time.Duration // of commits
	longest   time.Duration // when the broker aborts a transaction
	arrivals  chan client.ConsumerMessage
	consumers []client.Consumer
	to        map[string]client.Producer // by the topic, or partition, that is consumed
	out       *outlet

	parts map[position][]client.ConsumerMessage // what has come of batches that are not complete
}

// position is where a batch is in a topic.
type position struct {
	topic         string
	ledger, entry int64
}

// relayed is what a relay produces. The client's message comes first, so that its router finds the partition.
type relayed struct {
	client.ProducerMessage
	partition int32
}

// join makes the consumer of a topic and the producer that passes on what it gets, to the partition of the same number: so the
// order of a stream is kept whichever relay has it.
func (r *relay) join(ctx context.Context, s *session, c driver.RelayConfig, topic int) error {
	g, v, t := s.config.Guarantee, s.config.Client, s.topology.Topics[topic]
	out := producerOptions(g, v, deliverMost)
	out.Topic, out.Name = s.addressOf(t.Out), "brokermark-"+rand.Text()
	out.MessageRouter = func(m *client.ProducerMessage, _ client.TopicMetadata) int {
		return int((*relayed)(unsafe.Pointer(m)).partition)
	}
	if g.Delivery == driver.ExactlyOnce {
		r.out.marks(&out)
	}
	producer, err := r.connected.CreateProducer(out)
	if err != nil {
		return fmt.Errorf("making a producer for %s: %w", out.Topic, err)
	}
	r.out.producers = append(r.out.producers, producer)
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

// pass produces what was consumed, in a transaction where there is one.
func (r *relay) pass(m client.ConsumerMessage, txn client.Transaction) {
	out := &relayed{partition: max(0, m.ID().PartitionIdx())}
	out.Payload, out.Key, out.Transaction = m.Payload(), m.Key(), txn
	r.out.send(r.to[m.Topic()], &out.ProducerMessage)
}

// copy relays at least once: what has come is acknowledged when all that was produced of it is.
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
			r.pass(m, nil)
		}
		if err := r.out.answers(ctx, time.Now().Add(never)); err != nil {
			return err
		}
		for _, m := range taken {
			if err := m.AckID(m.ID()); err != nil {
				return err
			}
		}
	}
}

// transact relays exactly once, in one transaction after the other, each of the batches that came within an interval.
func (r *relay) transact(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-r.arrivals:
			if whole := r.complete(m); whole != nil {
				if err := r.transaction(ctx, whole); err != nil {
					return err
				}
			}
		}
	}
}

// complete is the whole batch of which m is the last part; nil: there is more to come. A batch is acknowledged as a whole, with its last
// message, so all that is produced of it has to be in that transaction.
func (r *relay) complete(m client.ConsumerMessage) []client.ConsumerMessage {
	id := m.ID()
	at := position{m.Topic(), id.LedgerID(), id.EntryID()}
	r.parts[at] = append(r.parts[at], m)
	if id.BatchIdx()+1 < id.BatchSize() {
		return nil
	}
	defer delete(r.parts, at)
	return r.parts[at]
}

// transaction produces a batch and those that come within an interval, acknowledges them, and commits both. Where it fails nothing is lost
// or comes twice, however it ended: the relay begins anew, and what was committed is not consumed again.
func (r *relay) transaction(ctx context.Context, whole []client.ConsumerMessage) error {
	until := time.Now().Add(r.longest)
	txn, err := r.connected.NewTransaction(r.longest)
	if err != nil {
		return err
	}
	r.out.begin(txn)
	var taken []client.ConsumerMessage
	for timer := time.After(r.every); timer != nil; {
		for _, m := range whole {
			r.pass(m, txn)
		}
		taken, whole = append(taken, whole...), nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-r.arrivals:
			whole = r.complete(m)
		case <-timer:
			timer = nil
		}
	}
	err = r.out.answers(ctx, until)
	for _, m := range taken {
		if err == nil { // the client waits for an answer to each batch
			err = m.AckWithTxn(m.Message, txn)
		}
	}
	if err != nil {
		r.out.close() // which ends what the abortion waits for
		abort(ctx, txn)
		return err
	}
	return commit(ctx, txn, until)
}
