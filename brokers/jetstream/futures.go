package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// futures publishes as nats.go documents it: PublishAsync returns futures, which are awaited in order.
type futures struct {
	*natsio.Flights
	conn     *natsio.Conn
	js       jetstream.JetStream
	watch    *socket.Watch
	subjects []string
	headers  []string // names
	receipts driver.Receipts
	ids      *ids // exactly-once; else nil
	answers  answers
	sent     chan sent
	stop     chan struct{}
	running  sync.WaitGroup
}

// sent is one message that awaits its answer.
type sent struct {
	future           jetstream.PubAckFuture
	slot, generation uint32
}

func (s *session) newFutures(c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p := &futures{
		Flights: natsio.NewFlights(c.InFlight, r), subjects: s.subjects, headers: c.Headers, receipts: r, answers: answers{copies: s.config.Guarantee.Replicas},
		sent: make(chan sent, 2*c.InFlight), stop: make(chan struct{}), // including abandoned ones whose answers are not there yet
	}
	var err error
	if p.conn, err = s.dialer.Dial(fmt.Sprintf("producer %d", c.ID), p.Lost, nil); err != nil {
		return nil, err
	}
	if err = natsio.CheckSize(p.conn, sized(s.config.Guarantee, c.MaxBytes)); err == nil {
		// The run's own window is the limit; the client counts abandoned messages as pending for a moment.
		p.js, err = jetstream.New(p.conn.Conn, jetstream.WithPublishAsyncMaxPending(2*c.InFlight), jetstream.WithPublishAsyncTimeout(s.config.Client.Duration("PublishAsyncTimeout")))
	}
	if err != nil {
		p.conn.Shut()
		return nil, err
	}
	if s.config.Guarantee.Delivery == driver.ExactlyOnce {
		p.ids = newIDs(c.InFlight)
	}
	p.conn.WhenDenied(func(err error) { driver.Refuse(r, err) })
	p.watch = socket.NewWatch(p.conn.Cut)
	p.running.Go(p.await)
	return p, nil
}

func (p *futures) Send(ctx context.Context, batch []driver.Message) error {
	p.watch.Enter(ctx)
	defer p.watch.Leave()
	for i := range batch {
		if err := ctx.Err(); err != nil {
			driver.Fail(p.receipts, batch[i:], err)
			return err
		}
		p.publish(&batch[i])
	}
	return nil
}

// publish leaves repetition to its caller: messages that the client itself repeats would come after later ones.
func (p *futures) publish(m *driver.Message) {
	options := []jetstream.PublishOpt{jetstream.WithRetryAttempts(0)}
	if p.ids != nil {
		p.ids.pick(m)
		options = append(options, jetstream.WithMsgID(p.ids.header[0]))
	}
	generation := p.Begin(m.Slot)
	future, err := p.js.PublishMsgAsync(p.message(m), options...)
	if err != nil {
		p.Settle(m.Slot, generation, natsio.Disconnected(err))
		return
	}
	p.sent <- sent{future, m.Slot, generation}
}

// message is a new message each time, since its future keeps it.
func (p *futures) message(m *driver.Message) *nats.Msg {
	out := &nats.Msg{Subject: p.subjects[m.Topic], Data: m.Payload}
	if len(p.headers) > 0 {
		headers := natsio.NewHeaders(p.headers, nil)
		headers.Set(m.Headers.Values())
		out.Header = headers.Map
	}
	return out
}

func (p *futures) await() {
	for {
		var next sent
		select {
		case next = <-p.sent:
		case <-p.stop:
			return
		}
		select {
		case <-next.future.Ok():
			p.Settle(next.slot, next.generation, nil)
		case err := <-next.future.Err():
			p.Settle(next.slot, next.generation, p.outcome(err))
		case <-p.stop:
			return
		}
	}
}

// outcome is the outcome of a message whose future has an error.
func (p *futures) outcome(err error) error {
	if refusal, ok := errors.AsType[*jetstream.APIError](err); ok {
		return p.answers.refused(refusal, time.Now())
	}
	switch {
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return driver.ErrUnanswered
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return errNoAnswer
	case errors.Is(err, jetstream.ErrInvalidJSAck):
		return fmt.Errorf("publish: %w", err)
	}
	return natsio.Disconnected(err)
}

// Flush does nothing: the client's flusher runs as soon as anything is buffered.
func (p *futures) Flush(context.Context) error { return nil }

func (p *futures) Close() error {
	p.watch.Stop()
	p.Drain(p.conn)
	close(p.stop)
	p.conn.Shut()
	p.running.Wait()
	p.Fail(driver.ErrUnanswered)
	return nil
}
