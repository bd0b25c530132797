package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	readyBudget = 5 * time.Second
	// A server that dies during a confirmation blocks its consumer for this long, while more messages queue up behind it.
	confirmBudget = time.Second
	ackEvery      = 256 // with AckPolicy all, while more messages wait in the stream
	// Messages that are still under way when the consumer is set back come within this time; otherwise its new flow was lost as well.
	leftover = time.Second
)

// Consume is one of the consumers of the subscription's durable consumer.
func (s *session) Consume(ctx context.Context, c driver.ConsumerConfig, sink driver.Sink, ready func()) error {
	if err := s.config.Guarantee.TakingTurns(c); err != nil {
		return err
	}
	if err := fits(s.config, driver.Shape{Consumers: c.ID + 1}); err != nil {
		return err
	}
	name := fmt.Sprintf("consumer %d of %s on %s", c.ID, s.subscriptions[c.Subscription], s.subjects[c.Topic])
	conn, err := s.dialer.Dial(name, nil, nil)
	if err != nil {
		return err
	}
	defer conn.Shut()
	js, err := jetstream.New(conn.Conn)
	if err != nil {
		return err
	}
	topics := c.Topics()
	if len(topics) > 1 {
		sink = driver.OneAtATime(sink)
	}
	var running sync.WaitGroup
	ended, denied := make(chan struct{}, len(topics)), make(chan error, 1)
	conn.WhenDenied(func(err error) { denied <- err })
	binding, all := errgroup.WithContext(ctx)
	binding.SetLimit(setupAtOnce)
	pulls := make([]puller, len(topics))
	for i, topic := range topics {
		binding.Go(func() error {
			r := s.reader(ctx, conn, js, sink, s.subjects[topic], s.subscriptions[c.Subscription], c.ID)
			r.most, r.one = s.atOnce(c), driver.NewBatch(c.Headers, 1)
			var err error
			if pulls[i], err = r.start(all, s); err == nil {
				running.Go(func() {
					<-pulls[i].Closed() // after the last call of handle
					r.sum()
					ended <- struct{}{}
				})
			}
			return err
		})
	}
	if err = binding.Wait(); err == nil {
		if err = conn.FlushTimeout(readyBudget); err != nil {
			err = fmt.Errorf("%s: no answer from the server: %w", name, err)
		}
	}
	if err == nil {
		ready()
		select {
		case <-ctx.Done():
			for _, p := range pulls {
				p.Stop()
			}
			conn.Finish() // sends the last acknowledgements
		case err = <-denied:
			err = fmt.Errorf("%s: %w", name, err)
		case <-ended:
			err = fmt.Errorf("%s: the server ended the consumer or the connection is closed", name)
		}
	}
	conn.Shut()
	running.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s *session) reader(ctx context.Context, conn *natsio.Conn, js jetstream.JetStream, sink driver.Sink, subject, durable string, id int) *reader {
	at := func(m jetstream.Msg) (place, error) { return placeOf(m.Reply()) }
	if driver.UsesStock(s.config.Client) {
		at = documented
	}
	return &reader{
		ctx: ctx, conn: conn, js: js, place: at, sink: sink, policy: s.policy, delivery: s.config.Guarantee.Delivery, logf: s.dialer.Logf,
		subject: subject, stream: s.stream(subject), durable: durable, name: fmt.Sprintf("consumer %d of %s on %s", id, durable, subject),
		ordered: isOrdered(s.config.Client),
	}
}

// start binds to the durable consumer, or makes an ordered one, and requests messages; try bounds the binding.
func (r *reader) start(try context.Context, s *session) (pulling puller, err error) {
	if r.ordered {
		r.course = s.course(r.subject, r.durable, 0)
		err = s.untilFormed(try, r.conn, func(ctx context.Context) (err error) {
			pulling, err = r.follow(ctx, s.config.Client)
			return err
		})
	} else {
		pulling, err = r.bind(try, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return pulling, nil
}

func (r *reader) bind(try context.Context, s *session) (puller, error) {
	var bound jetstream.Consumer
	err := s.untilFormed(try, r.conn, func(ctx context.Context) (err error) {
		bound, err = r.js.Consumer(ctx, r.stream, r.durable)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.tracks() {
		r.course = s.course(r.subject, r.durable, bound.CachedInfo().AckFloor.Stream)
	} else if r.delivery != driver.AtLeastOnce {
		r.seen = s.sequences(r.subject, r.durable)
	}
	return r.pull(bound, s.config.Client)
}

// resetTo sets the durable consumer back to a message of the stream.
func (r *reader) resetTo(ctx context.Context, to uint64) error {
	_, err := r.js.ResetConsumerToSequence(ctx, r.stream, r.durable, to)
	return err
}

// reader delivers messages and acknowledges them. One goroutine of the client calls handle.
type reader struct {
	ctx      context.Context
	conn     *natsio.Conn
	js       jetstream.JetStream
	place    func(jetstream.Msg) (place, error)
	subject  string
	stream   string // name of the stream
	durable  string
	sink     driver.Sink
	policy   jetstream.AckPolicy
	delivery driver.Delivery
	course   *course    // if places in the stream are tracked; else nil
	seen     *sequences // set without a course, except with at-least-once; else nil
	rewound  time.Time  // when it was last set back
	left     uint64     // position in the flow that was given up then; 0 once the new flow has begun
	logf     func(string, ...any)
	name     string
	most     int  // messages prefetched
	ordered  bool // an ordered consumer
	one      driver.Batch
	// The time of the last confirmation that the server didn't answer: a restarted server may not know the messages that it sent
	// before its death, up to a batch of which waits here. For a moment acknowledgements aren't waited for.
	unanswered time.Time
	since      int             // messages since the last acknowledgement
	waiting    []jetstream.Msg // the messages of a batch that have arrived
	again      int             // redelivered messages that were recognised
}

func (r *reader) handle(m jetstream.Msg) {
	deliver := true
	if r.course != nil || r.seen != nil {
		at, err := r.place(m)
		if err != nil {
			r.report(err)
			return
		}
		var tooSoon bool
		if deliver, tooSoon = r.judge(at); tooSoon {
			r.rewind(at)
			return
		}
	}
	if deliver {
		r.one.Add(m.Data(), func(name string) []byte { return natsio.Value(m.Headers(), name) })
		r.one.Deliver(r.sink)
	} else {
		r.again++
	}
	r.acknowledge(m)
}

// judge reports whether to deliver the message at a place now, or whether it came too soon: messages before it are missing.
func (r *reader) judge(at place) (deliver, tooSoon bool) {
	if r.course == nil {
		return r.seen.first(at), false
	}
	if at.flow <= r.left {
		r.left = 0
	}
	switch r.course.classify(at) {
	case due:
		r.course.pass(at)
		return true, false
	case repeated:
		return r.delivery == driver.AtLeastOnce, false
	}
	if r.delivery == driver.AtMostOnce { // missing messages are lost
		r.course.pass(at)
		return true, false
	}
	return false, true
}

func (r *reader) acknowledge(m jetstream.Msg) {
	switch {
	case r.policy == jetstream.AckNonePolicy:
	case r.delivery == driver.ExactlyOnce && time.Since(r.unanswered) > confirmBudget:
		ctx, cancel := context.WithTimeout(r.ctx, confirmBudget)
		defer cancel()
		err := m.DoubleAck(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			r.unanswered = time.Now()
		}
		r.report(err)
	case r.policy == jetstream.AckExplicitPolicy:
		r.report(m.Ack())
	default:
		// The last message waiting in the stream is acknowledged at once, because no later message may come to do it.
		r.since++
		if meta, err := m.Metadata(); r.since >= ackEvery || err != nil || meta.NumPending == 0 {
			r.since = 0
			r.report(m.Ack())
		}
	}
}

// rewind makes the server deliver again from the first missing message before at. That message was under way to a consumer that
// has lost its connection, or was sent by a server that died, and would come after AckWait, behind all others. Early messages are
// neither delivered nor acknowledged, so that they come again, too.
func (r *reader) rewind(at place) {
	if r.left > 0 && time.Since(r.rewound) < leftover { // of the old flow
		return
	}
	r.logf("%s: message %d of the stream came and %d is missing; the consumer is set back", r.name, at.stream, r.course.next)
	for r.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(r.ctx, confirmBudget)
		err := r.resetTo(ctx, r.course.next)
		cancel()
		if err == nil {
			break
		}
		r.report(fmt.Errorf("set the consumer back: %w", err)) // no leader yet
		_ = socket.Pause(r.ctx, tryPause)
	}
	r.rewound, r.left, r.since = time.Now(), at.flow, 0
}

func (r *reader) report(err error) {
	if err != nil && r.ctx.Err() == nil {
		r.logf("%s: %v", r.name, err)
	}
}

func (r *reader) sum() {
	if r.again > 0 {
		r.logf("%s: the server delivered %d messages again; they were recognised", r.name, r.again)
	}
}
