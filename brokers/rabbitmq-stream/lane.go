package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/message"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// lane is a producer's way into one stream: a queue, a writer that empties it into publish frames, and a reader of
// confirms. It reconnects by itself, after it has failed the messages that were open on the lost connection.
type lane struct {
	p      *producer
	stream string
	name   string // of the publisher; empty: the server keeps no record of what it sent
	wake   chan struct{}

	touched bool // by the Send that is running
	since   int  // the connection that it found; 0: none

	mu     sync.Mutex
	up     chan struct{} // closed while there is a connection
	pub    *publisher    // nil: none
	count  int           // of connections so far
	lost   bool          // messages were open on a lost connection, and no Send has failed since
	queue  []*outgoing   // open, to be written
	nextID int64

	writing []*outgoing // the writer's: taken from the queue
	frame   []message.StreamMessage
	wire    []byte
	slots   []uint32
}

// publisher is the client's producer with the channel of its confirms, which is closed when its connection is lost.
type publisher struct {
	*stream.Producer
	confirms stream.ChannelPublishConfirm
	share    *share
}

func newLane(p *producer, stream, name string) *lane {
	return &lane{
		p: p, stream: stream, name: name, wake: make(chan struct{}, 1), up: make(chan struct{}),
		queue: make([]*outgoing, 0, p.cfg.InFlight), writing: make([]*outgoing, 0, p.cfg.InFlight),
	}
}

// publisher returns the client's options. Nothing may time out: a late confirm is not a lost one, and the client forgets a
// message that times out.
func (d *streams) publisher(c driver.ProducerConfig, name string) *stream.ProducerOptions {
	o := stream.NewProducerOptions().SetConfirmationTimeOut(100 * time.Hour).SetQueueSize(min(max(c.InFlight+1, 500), 1_000_000))
	if driver.UsesStock(d.cfg.Client) {
		o.SetBatchSize(int(d.cfg.Client.Int("batch.size")))
	}
	if n := int(d.cfg.Client.Int("sub.entry.size")); n > 1 {
		o.SetSubEntrySize(n).SetCompression(codecs[d.cfg.Client.String("compression")](stream.Compression{}))
	}
	return o.SetProducerName(name).SetClientProvidedName("brokermark")
}

func declare(s *share, name string, o *stream.ProducerOptions) (*publisher, error) {
	made, err := s.NewProducer(name, o)
	if err != nil {
		return nil, err
	}
	pub := &publisher{made, made.NotifyPublishConfirmation(), s}
	// The client sets the channel without a lock, and reads it when the connection ends; both ends take this one.
	_ = made.GetID()
	return pub, nil
}

// rise makes the lane ready for messages.
func (l *lane) rise(pub *publisher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pub = pub
	l.count++
	close(l.up)
}

// fall fails the messages that are open on the lane.
func (l *lane) fall(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pub != nil {
		l.pub, l.up = nil, make(chan struct{})
	}
	l.queue = l.queue[:0]
	var slots []uint32
	for i := range l.p.slots {
		if o := &l.p.slots[i]; o.in.CompareAndSwap(l, nil) {
			slots = append(slots, o.slot)
		}
	}
	l.lost = l.lost || len(slots) > 0
	l.p.done(slots, err)
}

// state returns the number of the connection, 0 for none, and whether a Send may use it: the first after a loss has to
// fail, because messages left open by the lost connection are sent again before anything new.
func (l *lane) state() (connection int, free bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost && l.p.d.cfg.Guarantee.Delivery != driver.AtMostOnce {
		l.lost = false
		return 0, false
	}
	if l.pub == nil {
		return 0, true
	}
	return l.count, true
}

// take queues m, unless the connection that this Send found is gone.
func (l *lane) take(m *driver.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pub == nil || l.count != l.since {
		return false
	}
	o := &l.p.slots[m.Slot]
	if o.home != l {
		l.nextID++
		o.home, o.id = l, l.nextID
	}
	o.slot, o.payload, o.headers = m.Slot, m.Payload, m.Headers
	o.in.Store(l)
	l.p.open.Add(1)
	l.queue = append(l.queue, o)
	return true
}

// await waits for a connection and returns its number; 0 if none comes in time.
func (l *lane) await(ctx context.Context, until <-chan time.Time) int {
	l.mu.Lock()
	up := l.up
	l.mu.Unlock()
	select {
	case <-up:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.count
	case <-until:
	case <-ctx.Done():
	case <-l.p.running.Done():
	}
	return 0
}

// nudge wakes the writer where there is something to write.
func (l *lane) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run serves one connection after the other until the producer is closed.
func (l *lane) run(pub *publisher) {
	for {
		l.serve(pub)
		l.fall(errLost)
		l.p.leave(pub.share)
		for pub = nil; pub == nil; {
			if socket.Pause(l.p.running, retryPause) != nil {
				return
			}
			pub, _ = l.p.connect(l.p.running, l)
		}
		l.rise(pub)
	}
}

// serve writes queued messages until the connection is lost or the producer closed.
func (l *lane) serve(pub *publisher) {
	lost := make(chan struct{})
	go func() {
		defer close(lost)
		for confirms := range pub.confirms {
			l.settle(pub, confirms)
		}
	}()
	for {
		select {
		case <-l.wake:
		case <-lost:
			return
		case <-l.p.running.Done():
			return
		}
		if err := l.write(pub); err != nil {
			return
		}
	}
}

// write empties the queue into publish frames.
func (l *lane) write(pub *publisher) error {
	l.mu.Lock()
	l.queue, l.writing = l.writing[:0], l.queue
	l.mu.Unlock()
	if driver.UsesStock(l.p.d.cfg.Client) {
		return l.sendEach(pub)
	}
	for rest := l.writing; len(rest) > 0; {
		n := l.fill(rest)
		err := pub.BatchSend(l.frame)
		if errors.Is(err, stream.FrameTooLarge) {
			err = nil // comes back as the messages' outcome
		}
		if l.p.d.cfg.Guarantee.Delivery == driver.AtMostOnce {
			l.finish(rest[:n], err)
		}
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// sendEach hands the messages to the client one by one, which encodes and gathers them.
func (l *lane) sendEach(pub *publisher) error {
	for i, o := range l.writing {
		err := pub.Send(o.encodedByClient(l.p.cfg.Headers))
		if errors.Is(err, stream.FrameTooLarge) {
			err = nil // comes back as the message's outcome
		}
		if l.p.d.cfg.Guarantee.Delivery == driver.AtMostOnce {
			l.finish(l.writing[i:i+1], err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill encodes as many messages as fit in one frame.
func (l *lane) fill(rest []*outgoing) (n int) {
	most, room := int(l.p.d.cfg.Client.Int("batch.size")), int(l.p.d.cfg.Client.Int("frame.max"))-frameHead
	l.frame, l.wire = l.frame[:0], l.wire[:0]
	for _, o := range rest {
		from := len(l.wire)
		whole := l.wire
		if names := l.p.cfg.Headers; len(names) > 0 {
			whole = appendProperties(whole, names, o.headers.Values())
		}
		whole = appendData(whole, o.payload) // if it moves, messages that were encoded before stay valid
		if room -= len(whole) - from + perEntry; n > 0 && (room < 0 || n >= most) {
			break
		}
		l.wire, o.wire = whole, whole[from:]
		l.frame = append(l.frame, o)
		n++
	}
	return n
}

// finish reports the written messages, with at-most-once.
func (l *lane) finish(written []*outgoing, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slots = l.slots[:0]
	for _, o := range written {
		if o.in.CompareAndSwap(l, nil) {
			l.slots = append(l.slots, o.slot)
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	l.p.done(l.slots, err)
}

// settle reports confirmed and refused messages. It leaves those that the client gives up, because the connection is lost,
// to fall.
func (l *lane) settle(pub *publisher, statuses []*stream.ConfirmationStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pub != pub || l.p.d.cfg.Guarantee.Delivery == driver.AtMostOnce {
		return
	}
	l.slots = l.slots[:0]
	for _, s := range statuses {
		if s == nil {
			continue
		}
		o, ok := sentBy(s.GetMessage())
		switch err := s.GetError(); {
		case !ok || errors.Is(err, stream.ConfirmationTimoutError) || errors.Is(err, stream.AlreadyClosed):
		case !o.in.CompareAndSwap(l, nil):
		case s.IsConfirmed():
			l.slots = append(l.slots, o.slot)
		default:
			l.p.done([]uint32{o.slot}, fmt.Errorf("the broker refused the message: %w", err))
		}
	}
	l.p.done(l.slots, nil)
}
