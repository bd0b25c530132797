package natsstreaming

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/stan.go"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

// drainBudget is for the last acknowledgements, in Close.
const drainBudget = time.Second

var (
	errLost   = disconnected(errors.New("before the server acknowledged the message"))
	errAbsent = disconnected(errors.New("there is no connection now"))
	errClosed = errors.New("the producer was closed before the server acknowledged; the message may have been stored all the same")
)

// producer publishes asynchronously. A slot is in flight while its state is the number of the flight that carries it.
type producer struct {
	d        *driving
	receipts driver.Receipts
	id       string
	window   int
	states   []atomic.Uint64
	done     []uint32 // of one batch
	flight   atomic.Pointer[flight]
	sending  sync.Mutex      // slots in hand are not failed
	settling sync.RWMutex    // who has ended a flight has also told so, before Close returns
	quit     context.Context //nolint:containedctx // ends with the producer, not with a call
	cancel   context.CancelFunc
	ended    chan struct{}
}

// flight is what goes over one link. Handlers are made once per link, not per message.
type flight struct {
	*link
	number   uint64
	watch    *socket.Watch
	handlers []stan.AckHandler // by slot; at most once: a single one
	room     chan struct{}     // at most once: what the server has not acknowledged
}

func (d *driving) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return resend.Producer(d.config.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) {
		p := &producer{
			d: d, receipts: r, id: clientID("producer"), window: c.InFlight,
			states: make([]atomic.Uint64, c.InFlight), done: make([]uint32, 0, c.InFlight), ended: make(chan struct{}),
		}
		if p.once() {
			p.window = int(d.config.Client.Int("MaxPubAcksInflight"))
		}
		f, err := p.connect(1)
		if err != nil {
			return nil, err
		}
		if err := fitsSize(c.MaxBytes, f.nats.MaxPayload()); err != nil {
			f.close()
			return nil, err
		}
		p.flight.Store(f)
		p.quit, p.cancel = context.WithCancel(context.Background())
		go p.keep(f)
		return p, nil
	})
}

func (p *producer) once() bool { return p.d.config.Guarantee.Delivery == driver.AtMostOnce }

// wrapping is what the protocol puts around a message, at most: ids, sequence, time, checksum, their tags, and the names
// that the harness makes.
const wrapping = 256

// fitsSize reports whether a message of so many bytes fits with what the protocol wraps around it; limit 0 is not known.
func fitsSize(size int, limit int64) error {
	if limit > 0 && int64(size+wrapping) > limit {
		return driver.Unsupported(fmt.Sprintf("messageSize: %d", size),
			"the server takes at most %d bytes, of which the protocol needs up to %d; raise its setting max_payload", limit, wrapping)
	}
	return nil
}

func (p *producer) connect(number uint64) (*flight, error) {
	l, err := p.d.dial(p.id, p.window)
	if err != nil {
		return nil, err
	}
	f := &flight{link: l, number: number, watch: socket.NewWatch(l.nats.Cut)}
	if p.once() {
		f.room = make(chan struct{}, p.window)
		f.handlers = []stan.AckHandler{func(string, error) { <-f.room }}
		return f, nil
	}
	f.handlers = make([]stan.AckHandler, len(p.states))
	for slot := range f.handlers {
		f.handlers[slot] = func(_ string, err error) { p.answered(uint32(slot), number, err) }
	}
	return f, nil
}

// answered is called by the client: by its reading goroutine, a timer, or the goroutine that closes it.
func (p *producer) answered(slot uint32, number uint64, err error) {
	switch {
	case errors.Is(err, stan.ErrTimeout):
		err = fmt.Errorf("%w: %w", driver.ErrUnanswered, err)
	case errors.Is(err, stan.ErrConnectionClosed):
		err = disconnected(err)
	}
	p.settle(slot, number, err)
}

func (p *producer) settle(slot uint32, number uint64, err error) {
	p.settling.RLock()
	defer p.settling.RUnlock()
	if p.states[slot].CompareAndSwap(number, 0) {
		p.receipts.Done([]uint32{slot}, err)
	}
}

// Send publishes batch; the client copies it.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	f := p.flight.Load()
	if f == nil {
		driver.Fail(p.receipts, batch, errAbsent)
		return nil
	}
	f.watch.Enter(ctx)
	defer f.watch.Leave()
	if p.once() {
		return p.forget(ctx, f, batch)
	}
	for i := range batch {
		if err := ctx.Err(); err != nil {
			driver.Fail(p.receipts, batch[i:], err)
			return err
		}
		m := &batch[i]
		p.states[m.Slot].Store(f.number)
		if _, err := f.PublishAsync(p.d.subjects[m.Topic], m.Payload, f.handlers[m.Slot]); err != nil {
			p.settle(m.Slot, f.number, passing(err))
		}
	}
	return nil
}

// forget publishes at most once: a message is done when the client has it.
func (p *producer) forget(ctx context.Context, f *flight, batch []driver.Message) error {
	p.done = p.done[:0]
	defer func() {
		if len(p.done) > 0 {
			p.receipts.Done(p.done, nil)
		}
	}()
	for i := range batch {
		m := &batch[i]
		select {
		case f.room <- struct{}{}:
		case <-f.lost:
			driver.Fail(p.receipts, batch[i:], errAbsent)
			return nil
		case <-ctx.Done():
			driver.Fail(p.receipts, batch[i:], ctx.Err())
			return ctx.Err()
		}
		if _, err := f.PublishAsync(p.d.subjects[m.Topic], m.Payload, f.handlers[0]); err != nil {
			<-f.room
			driver.Fail(p.receipts, batch[i:i+1], passing(err))
			continue
		}
		p.done = append(p.done, m.Slot)
	}
	return nil
}

// passing marks all that publishing may fail with as a matter of the connection, unless it is one of the message.
func passing(err error) error {
	if errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrBadSubject) {
		return err
	}
	return disconnected(err)
}

// Flush has nothing to do: the client's flusher runs as soon as anything is buffered.
func (p *producer) Flush(context.Context) error { return nil }

// keep makes a lost link anew, until the producer is closed.
func (p *producer) keep(f *flight) {
	defer close(p.ended)
	for {
		select {
		case <-f.lost:
		case <-p.quit.Done():
			return
		}
		p.flight.Store(nil)
		f.cut() // a caller that is sending gets an error
		p.fail(f.number, errLost)
		next, err := p.connect(f.number + 1)
		for ; err != nil; next, err = p.connect(f.number + 1) {
			p.d.dialer.Logf("%s: %v; trying again", p.id, err)
			if socket.Pause(p.quit, retryPause) != nil {
				return
			}
		}
		f = next
		p.flight.Store(f)
	}
}

// fail completes the slots still in flight; nothing else may complete them by now.
func (p *producer) fail(number uint64, err error) {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.settling.Lock()
	defer p.settling.Unlock()
	var failed []uint32
	for slot := range p.states {
		if p.states[slot].CompareAndSwap(number, 0) {
			failed = append(failed, uint32(slot))
		}
	}
	if len(failed) > 0 {
		p.receipts.Done(failed, err)
	}
}

func (p *producer) waiting(f *flight) bool {
	for slot := range p.states {
		if p.states[slot].Load() != 0 {
			return true
		}
	}
	return len(f.room) > 0
}

// Close gives the last acknowledgements a moment, and fails the rest.
func (p *producer) Close() error {
	if f := p.flight.Load(); f != nil {
		for end := time.Now().Add(drainBudget); p.waiting(f) && f.nats.IsConnected() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	p.cancel()
	<-p.ended
	if f := p.flight.Swap(nil); f != nil {
		f.watch.Stop()
		if p.waiting(f) { // the server doesn't answer
			f.cut()
		}
		f.close()
		p.fail(f.number, errClosed)
	}
	return nil
}
