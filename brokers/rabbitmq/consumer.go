package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// deliverBatch is the largest number of messages in one Deliver.
const deliverBatch = 256

// Consume reads the consumer's share of the topic's queues; several consumers share a queue if there are more consumers than
// queues. It reconnects until ctx ends; messages that were not acknowledged are then redelivered.
func (d *rabbit) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	registered := sync.OnceFunc(ready)
	for again := false; ; again = true {
		err := d.session(ctx, c, s, registered, again)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errOver) || !again && !errors.Is(err, errInterrupted) {
			return fmt.Errorf("consume from %s: %w", d.topo.Topics[c.Topic].Name, err)
		}
		if socket.Pause(ctx, retryPause) != nil {
			return nil
		}
	}
}

// errInterrupted ends a session that was registered with the broker.
var errInterrupted = errors.New("connection lost, or the broker cancelled the consumer")

// errOver ends a consumer that the broker would end again.
var errOver = errors.New("the broker closed the channel")

// session consumes on one connection until that or ctx ends. Every queue has a channel of its own, so that a basic.ack covers
// messages of that queue only.
func (d *rabbit) session(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, registered func(), again bool) error {
	l, err := d.attach(ctx, fmt.Sprintf("consumer %d %d ", c.Topic, c.Subscription), c.ID)
	if err != nil {
		return err
	}
	defer l.close()
	attached := l.bound(ctx)
	defer func() { attached() }()
	if again { // queues that aren't durable are lost in a restart
		for _, topic := range c.Topics() {
			if err := d.declare(l.ch, topic); err != nil {
				return err
			}
		}
	}
	names := d.queues(c)
	sink := s
	if len(names) > 1 {
		sink = driver.OneAtATime(s)
	}
	queues := make([]*intake, len(names))
	defer func() {
		if l.shared != nil {
			closeAll(l, queues)
		}
	}()
	for i, name := range names {
		if queues[i], err = d.intake(l, sink, name, c.Headers); err != nil {
			return err
		}
		if i%renewEvery == renewEvery-1 { // so that the number of queues doesn't bound it
			attached()
			attached = l.bound(ctx)
		}
	}
	attached()
	registered()
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, q := range queues {
		wg.Go(func() { q.run(ctx); cancel() })
	}
	wg.Wait()
	for _, q := range queues {
		if why := q.refusal(); why != nil {
			return fmt.Errorf("%w: %w", errOver, why)
		}
	}
	return errInterrupted
}

// closeAll closes the queues' channels on a connection that continues.
func closeAll(l *link, queues []*intake) {
	var channels []*amqp.Channel
	for _, q := range queues {
		if q != nil {
			channels = append(channels, q.ch)
		}
	}
	shut(l, channels...)
}

// renewEvery is the number of queues after which the time limit for an answer begins anew.
const renewEvery = 50

// queues are the queues that consumer c reads: a topic's consumers divide them among themselves.
func (d *rabbit) queues(c driver.ConsumerConfig) (names []string) {
	for _, topic := range c.Topics() {
		for _, partition := range c.Partitions(d.topo.Topics[topic].Partitions) {
			names = append(names, d.queue(topic, c.Subscription, partition))
		}
	}
	return names
}

// intake takes the messages of one queue and acknowledges them in bulk.
type intake struct {
	ch         *amqp.Channel
	deliveries <-chan amqp.Delivery
	ended      chan *amqp.Error // receives the reason if the broker closed the channel
	sink       driver.Sink
	autoAck    bool
	once       bool          // a redelivered message is acknowledged and dropped
	gathers    bool          // delivers the available messages together
	every      int           // messages per basic.ack
	delay      time.Duration // longest time until an acknowledgement

	came    driver.Batch
	last    uint64 // delivery tag
	unacked int
}

func (d *rabbit) intake(l *link, s driver.Sink, queue string, headers []string) (*intake, error) {
	ch, err := l.channel()
	if err != nil {
		return nil, err
	}
	prefetch, every := d.cfg.Client.Int("prefetch"), d.cfg.Client.Int("ack.every")
	if prefetch > 0 {
		every = min(every, prefetch/2)
	}
	if !d.autoAck {
		if err := ch.Qos(int(prefetch), 0, false); err != nil {
			return nil, err
		}
	}
	deliveries, err := ch.Consume(queue, "", d.autoAck, false, false, false, nil)
	return &intake{
		ch: ch, deliveries: deliveries, ended: ch.NotifyClose(make(chan *amqp.Error, 1)), sink: s, autoAck: d.autoAck, once: d.once, gathers: !driver.UsesStock(d.cfg.Client),
		every: int(max(1, every)), delay: d.cfg.Client.Duration("ack.delay"), came: driver.NewBatch(headers, deliverBatch),
	}, err
}

// refusal is why the broker closed the channel if it would close the next one, too: for example because messages weren't
// acknowledged in time.
func (q *intake) refusal() error {
	select {
	case why := <-q.ended:
		if why != nil && why.Code == amqp.PreconditionFailed {
			return fmt.Errorf("%w (the server's consumer_timeout bounds the work on what is acknowledged together, which ack.every and prefetch bound)", why)
		}
	default:
	}
	return nil
}

// run ends when ctx ends or the channel is closed; it then acknowledges the delivered messages if it can.
func (q *intake) run(ctx context.Context) {
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	defer q.ack()
	for {
		select {
		case m, open := <-q.deliveries:
			if !open {
				return
			}
			first := q.unacked == 0
			q.deliver(m)
			if q.unacked >= q.every {
				q.ack()
			} else if first && q.unacked > 0 {
				due.Reset(q.delay)
			}
		case <-due.C:
			q.ack()
		case <-ctx.Done():
			return
		}
	}
}

// deliver delivers m and, in gathering mode, other available messages to the sink: at most as many as are acknowledged together.
func (q *intake) deliver(m amqp.Delivery) {
	most := deliverBatch
	if !q.autoAck {
		most = min(most, q.every)
	}
	q.take(m)
	taken := 1
	for yielded := false; q.gathers && taken < most; {
		select {
		case m, open := <-q.deliveries:
			if !open {
				break
			}
			q.take(m)
			taken++
			yielded = false
			continue
		default:
		}
		// The client passes one message at a time through an unbuffered channel: its goroutine needs a turn to offer the next one.
		if yielded {
			break
		}
		runtime.Gosched()
		yielded = true
	}
	q.came.Deliver(q.sink)
	if !q.autoAck {
		q.unacked += taken
	}
}

// take gathers m for the sink, unless it may have been delivered before and duplicates are forbidden.
func (q *intake) take(m amqp.Delivery) {
	q.last = m.DeliveryTag
	if !q.once || !m.Redelivered {
		q.came.Add(m.Body, func(name string) []byte { return driver.Text(m.Headers, name) })
	}
}

// ack acknowledges everything delivered so far; if it fails, the channel is closed and the messages are redelivered.
func (q *intake) ack() {
	if q.unacked > 0 {
		_ = q.ch.Ack(q.last, true)
		q.unacked = 0
	}
}
