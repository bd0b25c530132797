package mqtt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

var (
	errLost    = disconnected(errors.New("before the server acknowledged the message"))
	errUnknown = errors.New("the server lost its memory while it released the message, which may have been delivered: sent again, it might come twice")
	errClosed  = errors.New("the producer was closed before the server acknowledged; the message may have been taken all the same")
	errNobody  = errors.New("the server has no subscription for the message (reason 0x10) and dropped it")
)

const burst = 256 // messages written, or acknowledgements handed on, at once

// stage is how far a slot has come. A message longer than the write buffer may be acknowledged while Send's goroutine still
// has it in hand; then Send's goroutine completes it.
type stage uint8

const (
	free stage = iota
	writing
	written
	early // acknowledged while writing
)

// disconnected marks what may be sent again.
func disconnected(err error) error { return fmt.Errorf("%w: %w", driver.ErrDisconnected, err) }

// producer writes queued messages as far as the server takes unacknowledged ones (its receive maximum). Slot n has
// packet identifier n+1, so that an acknowledgement finds its slot without a map. Only run fails slots when a
// connection is lost: it alone knows that it isn't reading a payload.
type producer struct {
	handshake
	d        *driving
	receipts driver.Receipts
	packets  []packets.Publish // by slot
	id       string            // of the client; at QoS 2 the server knows by it what it has taken already
	link     *link             // nil: to be made; run's own
	socket   atomic.Pointer[wire]
	ended    chan struct{}
	quit     context.Context //nolint:containedctx // ends with the producer, not with a call
	cancel   context.CancelFunc
	awake    chan struct{} // holds one wake-up
	closings closings
	answers  atomic.Bool // the server has answered a message on this connection

	mu     sync.Mutex
	queue  []uint32
	stages []stage          // by slot
	freed  []bool           // by slot, QoS 2: the server was asked to release the message
	fates  map[uint32]error // of early slots that failed
	flying int
	up     bool
	cut    bool // a connection left messages open; until they are sent again, no other is accepted
	closed bool

	// Of the reading goroutine.
	acked []uint32 // until it would wait

	stock *stockSession // nil: the producer itself is the session
}

func (d *driving) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if err := fits(d.product, d.config, driver.Shape{InFlight: c.InFlight}); err != nil {
		return nil, err
	}
	return resend.Producer(d.config.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) { return d.producer(ctx, c, r) })
}

func (d *driving) producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p := &producer{
		id: fmt.Sprintf("producer.%d.%016x", c.ID, rand.Uint64()), freed: make([]bool, c.InFlight),
		d: d, receipts: r, packets: make([]packets.Publish, c.InFlight), stages: make([]stage, c.InFlight),
		queue: make([]uint32, 0, c.InFlight), acked: make([]uint32, 0, c.InFlight),
		ended: make(chan struct{}), awake: make(chan struct{}, 1), fates: map[uint32]error{},
	}
	p.quit, p.cancel = context.WithCancel(context.Background())
	for slot := range p.packets {
		p.packets[slot] = packets.Publish{QoS: d.qos, PacketID: uint16(slot + 1), Properties: &packets.Properties{}}
		for _, name := range c.Headers {
			p.packets[slot].Properties.User = append(p.packets[slot].Properties.User, packets.User{Key: name})
		}
	}
	if err := p.connect(ctx, true); err != nil {
		p.cancel()
		return nil, err
	}
	go p.run()
	return p, nil
}

func (p *producer) connect(ctx context.Context, first bool) (err error) {
	p.socket.Store(nil) // nothing of the connection before runs any more
	p.closings.began, p.closings.sent = time.Now(), false
	p.acked = p.acked[:0]
	at := station{id: p.id, clean: first, keep: p.d.qos > 0, session: p, idle: p.settle}
	if driver.UsesStock(p.d.config.Client) {
		p.stock = newStockSession(p)
		at.session = p.stock
	}
	p.link, err = p.d.dial(ctx, at)
	return err
}

// Send queues batch, or completes it if a connection was lost and something else has to come first; it never blocks.
func (p *producer) Send(_ context.Context, batch []driver.Message) error {
	p.mu.Lock()
	if p.cut = p.cut && !batch[0].Resent; p.cut {
		p.mu.Unlock()
		driver.Fail(p.receipts, batch, errLost)
		return nil
	}
	for i := range batch {
		m := &batch[i]
		packet := &p.packets[m.Slot]
		packet.Topic, packet.Payload, packet.Duplicate = p.d.topics[m.Topic], m.Payload, m.Resent
		for i, value := range m.Headers.Values() {
			if user := &packet.Properties.User[i]; user.Value != string(value) {
				user.Value = string(value)
			}
		}
		p.freed[m.Slot] = p.freed[m.Slot] && m.Resent
		p.queue = append(p.queue, m.Slot)
	}
	p.mu.Unlock()
	p.wake()
	return nil
}

// Flush has nothing to do: queued messages are on their way.
func (p *producer) Flush(context.Context) error { return nil }

func (p *producer) wake() {
	select {
	case p.awake <- struct{}{}:
	default:
	}
}

func (p *producer) run() {
	defer close(p.ended)
	taken := make([]uint32, 0, burst)
	for p.quit.Err() == nil {
		if p.link == nil {
			p.again()
			continue
		}
		var lost, last bool
		taken, lost, last = p.take(taken)
		switch {
		case lost:
			if p.closings.another(p.answers.Swap(false), p.d.qos) {
				driver.Refuse(p.receipts, errClosing)
			}
			p.drop(errLost)
		case len(taken) > 0:
			p.write(taken)
		case last:
			p.drop(errClosed)
			return
		default:
			<-p.awake
		}
	}
	p.drop(errClosed)
}

// take marks the next messages that may be written; last: none is left, of a producer that is being closed.
func (p *producer) take(taken []uint32) (next []uint32, lost, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.up {
		return taken[:0], true, false
	}
	n := min(len(p.queue), burst)
	if p.d.qos > 0 {
		n = min(n, p.max-p.flying)
		p.flying += n
		for _, slot := range p.queue[:n] {
			p.stages[slot] = writing
		}
	}
	taken = append(taken[:0], p.queue[:n]...)
	p.queue = append(p.queue[:0], p.queue[n:]...)
	return taken, false, p.closed && n == 0 && p.flying == 0
}

// write sends taken. At QoS 0 a message is done when its bytes are in the socket.
func (p *producer) write(taken []uint32) {
	p.closings.sent = true
	if p.stock != nil {
		p.publish(taken)
		return
	}
	w := p.link.wire
	w.hold()
	for _, slot := range taken {
		if p.packets[slot].Duplicate {
			p.repeat(slot, w)
			continue
		}
		_, _ = p.packets[slot].WriteTo(w) // its errors come back from release
	}
	if p.d.qos == 0 {
		err := w.release()
		p.receipts.Done(taken, err)
		return
	}
	defer func() { _ = w.release() }()
	p.wrote(taken)
}

// wrote ends the writing of slots, and completes those that were acknowledged during it.
func (p *producer) wrote(taken []uint32) {
	p.mu.Lock()
	done := taken[:0]
	for _, slot := range taken {
		if p.stages[slot] == early {
			done = append(done, slot)
			p.stages[slot] = free
			continue
		}
		p.stages[slot] = written
	}
	p.flying -= len(done)
	p.mu.Unlock()
	for i, slot := range done { // few
		p.receipts.Done(done[i:i+1], p.fate(slot))
	}
}

// repeat resumes a message that a lost connection interrupted if the server still knows it, and otherwise sends it anew.
func (p *producer) repeat(slot uint32, w *wire) {
	p.mu.Lock()
	freed, known := p.freed[slot], p.present
	p.mu.Unlock()
	p.packets[slot].Duplicate = known
	switch {
	case !freed:
		_, _ = p.packets[slot].WriteTo(w)
	case known:
		w.answer(pubrel, p.packets[slot].PacketID)
	default:
		p.complete([]uint32{slot}, errUnknown)
	}
}

func (p *producer) fate(slot uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.fates[slot]
	delete(p.fates, slot)
	return err
}

// drop fails everything and gives the connection up.
func (p *producer) drop(err error) {
	if p.link != nil {
		p.link.close(!errors.Is(err, driver.ErrDisconnected)) // no acknowledgement comes afterwards
		p.link = nil
	}
	p.mu.Lock()
	failed := append([]uint32(nil), p.queue...)
	p.queue = p.queue[:0]
	for slot := range p.stages {
		if p.stages[slot] != free {
			failed = append(failed, uint32(slot))
			p.stages[slot] = free
		}
	}
	p.flying = 0
	p.cut = p.cut || len(failed) > 0 && p.d.qos > 0
	clear(p.fates)
	p.mu.Unlock()
	if len(failed) > 0 {
		p.receipts.Done(failed, err)
	}
}

// again tries to connect, and otherwise fails the messages that were queued meanwhile.
func (p *producer) again() {
	err := p.connect(p.quit, false)
	if err == nil && p.d.qos > 0 && !p.present {
		p.closings.sent = true // what asks for the subscriptions is a message, too
		if err = p.d.restore(p.quit); err != nil && p.closings.another(false, p.d.qos) {
			driver.Refuse(p.receipts, errClosing)
		}
	}
	if err != nil {
		p.drop(disconnected(err))
		_ = socket.Pause(p.quit, retryPause)
	}
}

// Close gives the last acknowledgements a moment, then cuts the connection, which fails the rest.
func (p *producer) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wake()
	select {
	case <-p.ended:
	case <-time.After(closeBudget):
	}
	p.cancel()
	if w := p.socket.Load(); w != nil {
		_ = w.Conn.Close() // a blocked write ends
	}
	p.wake()
	<-p.ended
	return nil
}
