package jetstream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	readyBudget = 5 * time.Second
	// A server that dies with a confirmation holds its consumer up for so long, while more messages pile up behind it.
	confirmBudget = time.Second
	ackEvery      = 256 // AckPolicy all, while more messages wait in the stream
)

// Consume is one of the consumers that share the subscription's durable consumer.
func (s *session) Consume(ctx context.Context, c driver.ConsumerConfig, sink driver.Sink, ready func()) error {
	if err := s.config.Guarantee.TakingTurns(c); err != nil {
		return err
	}
	if s.policy == jetstream.AckAllPolicy && c.ID > 0 {
		return driver.Unsupported("client.AckPolicy: all", "it would acknowledge what the subscription's other consumers have not seen yet; one consumer per subscription, or explicit")
	}
	subject, durable := s.subjects[c.Topic], s.subscriptions[c.Subscription]
	name := fmt.Sprintf("consumer %d of %s on %s", c.ID, durable, subject)
	conn, err := s.dialer.Dial(name, nil, nil)
	if err != nil {
		return err
	}
	defer conn.Shut()
	js, err := jetstream.New(conn.Conn)
	if err != nil {
		return err
	}
	var bound jetstream.Consumer
	err = s.untilFormed(ctx, func(ctx context.Context) (err error) {
		bound, err = js.Consumer(ctx, entityName(subject), durable)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r := &reader{ctx: ctx, sink: sink, policy: s.policy, logf: s.dialer.Logf, name: name}
	if s.config.Guarantee.Delivery != driver.AtLeastOnce {
		r.seen = s.sequences(subject, durable)
		defer func() {
			if n := r.seen.repeated(); n > 0 {
				s.dialer.Logf("%s: the server delivered %d messages again; they were recognised", name, n)
			}
		}()
	}
	options := append(s.pull(), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { s.dialer.Logf("%s: %v", name, err) }))
	pulling, err := bound.Consume(r.handle, options...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ended := pulling.Closed() // after the last call of handle
	if err := conn.FlushTimeout(readyBudget); err != nil {
		err = fmt.Errorf("%s: no answer from the server: %w", name, err)
		conn.Shut()
		<-ended
		return err
	}
	ready()
	select {
	case <-ctx.Done():
		pulling.Stop()
		conn.Finish() // sends the last acknowledgements
		<-ended
		return nil
	case <-ended:
		return fmt.Errorf("%s: the server ended the consumer or the connection is closed", name)
	}
}

func (s *session) pull() []jetstream.PullConsumeOpt {
	c := s.config.Client
	options := []jetstream.PullConsumeOpt{
		jetstream.PullExpiry(c.Duration("PullExpiry")), jetstream.PullHeartbeat(c.Duration("PullHeartbeat")),
	}
	if n := c.Int("PullMaxBytes"); n > 0 {
		return append(options, jetstream.PullMaxBytes(int(n)))
	}
	return append(options, jetstream.PullMaxMessages(int(c.Int("PullMaxMessages"))))
}

// reader hands messages on and acknowledges them. handle is called by one goroutine of the client.
type reader struct {
	ctx    context.Context
	sink   driver.Sink
	policy jetstream.AckPolicy
	seen   *sequences // nil: at-least-once
	logf   func(string, ...any)
	name   string
	one    [1][]byte
	since  int // messages since the last acknowledgement
}

func (r *reader) handle(m jetstream.Msg) {
	if r.seen != nil {
		r.once(m)
		return
	}
	r.one[0] = m.Data()
	r.sink.Deliver(r.one[:])
	switch r.policy {
	case jetstream.AckExplicitPolicy:
		r.report(m.Ack())
	case jetstream.AckAllPolicy:
		// The last message that waits in the stream is acknowledged at once: no other may follow to do it.
		r.since++
		if meta, err := m.Metadata(); r.since >= ackEvery || err != nil || meta.NumPending == 0 {
			r.since = 0
			r.report(m.Ack())
		}
	}
}

// once delivers m unless it was delivered before, and has the server confirm the acknowledgement where there is one.
func (r *reader) once(m jetstream.Msg) {
	meta, err := m.Metadata()
	if err != nil {
		r.report(err)
		return
	}
	if r.seen.first(meta.Sequence.Stream) {
		r.one[0] = m.Data()
		r.sink.Deliver(r.one[:])
	}
	if r.policy == jetstream.AckNonePolicy {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, confirmBudget)
	defer cancel()
	r.report(m.DoubleAck(ctx))
}

func (r *reader) report(err error) {
	if err != nil && r.ctx.Err() == nil {
		r.logf("%s: acknowledge: %v", r.name, err)
	}
}

// sequences are the places in a stream whose messages one subscription has delivered. Exactly-once needs them, and
// at-most-once: what the server has delivered, and a confirmed acknowledgement, is in its memory only, and one that is
// killed within about a second delivers the message again, under a new count of deliveries.
type sequences struct {
	mu    sync.Mutex
	all   uint64              // everything up to here
	ahead map[uint64]struct{} // and these
	again int
}

func (s *session) sequences(subject, durable string) *sequences {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := subject + " " + durable
	if s.seen[key] == nil {
		s.seen[key] = &sequences{ahead: map[uint64]struct{}{}}
	}
	return s.seen[key]
}

// first tells whether n comes for the first time.
func (q *sequences) first(n uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.ahead[n]; ok || n <= q.all {
		q.again++
		return false
	}
	q.ahead[n] = struct{}{}
	for {
		if _, ok := q.ahead[q.all+1]; !ok {
			return true
		}
		q.all++
		delete(q.ahead, q.all)
	}
}

// repeated counts the messages that came again.
func (q *sequences) repeated() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.again
}
