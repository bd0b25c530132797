package pulsar

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	// closePatience is how long Close waits for answers.
	closePatience = 2 * time.Second
	// releasePatience is the time for the client to close; if it takes longer, it ends by itself.
	releasePatience = time.Second
	// headroom is the size that a message's metadata add to a payload.
	headroom = 1024
)

var (
	errUnanswered = errors.New("the broker had not answered when the producer was closed")
	errLost       = errors.New("the connection to the broker was lost")
)

type producer struct {
	client   client.Client
	lines    []*line    // by topic; nil for topics to which this producer doesn't send
	headers  []string   // names
	messages []outgoing // by slot
	receipts driver.Receipts
	handing  *handing        // nil: slots are completed by the broker's answers
	flushing context.Context // ends with Close
	endFlush context.CancelFunc
	flushes  sync.WaitGroup

	mu      sync.Mutex
	via     []*link // by slot: the link it was sent through; nil: completed
	open    int
	acked   []uint32  // answered slots, to be completed together
	one     [1]uint32 // the slot of a failed message
	waiting bool      // Close waits for idle
	held    bool      // the broker accepts no messages for now
	idle    chan struct{}
}

// outgoing is the message of one slot. The client's message comes first, so that the pointer to it, which is all that an answer
// has, leads back to the slot.
type outgoing struct {
	client.ProducerMessage
	slot uint32
}

func slotOf(m *client.ProducerMessage) uint32 { return (*outgoing)(unsafe.Pointer(m)).slot }

func (s *session) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if err := fitsSize(c.MaxBytes, s.largest); err != nil {
		return nil, err
	}
	p := &producer{
		lines: make([]*line, len(s.topology.Topics)), headers: c.Headers, messages: make([]outgoing, c.InFlight), receipts: r,
		via: make([]*link, c.InFlight), acked: make([]uint32, 0, c.InFlight), idle: make(chan struct{}),
	}
	var err error
	if p.client, err = s.connect(overheard{s.logged, p.hold}); err != nil {
		return nil, err
	}
	if s.config.Guarantee.Acks == driver.AcksNone {
		p.handing = newHanding(c.InFlight)
	}
	p.flushing, p.endFlush = context.WithCancel(context.Background())
	for slot := range p.messages {
		p.messages[slot].slot = uint32(slot)
	}
	for _, topic := range c.Topics {
		p.lines[topic] = s.newLine(p, c, topic)
		if err := p.lines[topic].open(ctx); err != nil {
			_ = p.Close()
			return nil, err
		}
	}
	return p, nil
}

func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	for len(batch) > 0 {
		n := 1
		for n < len(batch) && batch[n].Topic == batch[0].Topic {
			n++
		}
		if p.handing != nil {
			n = p.handOver(ctx, batch[:n])
		} else {
			_ = p.lines[batch[0].Topic].send(ctx, batch[:n])
		}
		batch = batch[n:]
	}
	return ctx.Err()
}

// properties are the headers of m, in the map of the slot's previous message if there is one.
func (p *producer) properties(of map[string]string, m *driver.Message) map[string]string {
	if of == nil && len(p.headers) > 0 {
		of = make(map[string]string, len(p.headers))
	}
	for i, value := range m.Headers.Values() {
		of[p.headers[i]] = string(value)
	}
	return of
}

// lend records the link through which the slots of batch are sent.
func (p *producer) lend(batch []driver.Message, through *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range batch {
		p.via[batch[i].Slot] = through
	}
	p.open += len(batch)
}

// complete completes slots; the caller holds p.mu.
func (p *producer) complete(slots []uint32, err error) {
	if p.handing != nil {
		p.handing.release(slots)
		return
	}
	p.receipts.Done(slots, err)
}

// answered is called by the client for each message that was sent through a link. The messages of a batch are completed together,
// with its last message.
func (p *producer) answered(through *link, id client.MessageID, m *client.ProducerMessage, err error) {
	slot := slotOf(m)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.via[slot] != through {
		return // it was given up with its link; the slot may carry another message by now
	}
	p.via[slot] = nil
	p.open--
	if err != nil {
		if errors.Is(err, client.ErrProducerClosed) || errors.Is(err, client.ErrTopicNotfound) {
			through.lost()
		}
		p.one[0] = slot
		p.complete(p.one[:], err)
	} else {
		if p.held {
			p.held = false
			driver.Hold(p.receipts, "")
		}
		p.acked = append(p.acked, slot)
		if id.BatchIdx()+1 >= id.BatchSize() {
			p.confirm()
		}
	}
	p.settle()
}

// hold is called with the reason why the client can't reconnect to the broker. A broker that has disconnected it because of a
// backlog quota accepts it again when there is room.
func (p *producer) hold(err error) {
	if !strings.Contains(err.Error(), "ProducerBlockedQuotaExceededError") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
	driver.Hold(p.receipts, err.Error())
}

// overheard is a log handler that also passes each error to a function.
type overheard struct {
	slog.Handler
	tell func(error)
}

// WithAttrs implements slog.Handler.
func (o overheard) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if err, ok := a.Value.Any().(error); ok {
			o.tell(err)
		}
	}
	return overheard{o.Handler.WithAttrs(attrs), o.tell}
}

// settle reports to Close that nothing is in flight; the caller holds p.mu.
func (p *producer) settle() {
	if p.open == 0 && p.waiting {
		p.waiting = false
		close(p.idle)
	}
}

// confirm completes answered slots; the caller holds p.mu.
func (p *producer) confirm() {
	if len(p.acked) > 0 {
		p.complete(p.acked, nil)
		p.acked = p.acked[:0]
	}
}

// fail completes the slots that were sent through l, or all if l is nil: the client forgets queued messages when it closes a producer.
func (p *producer) fail(l *link, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.confirm()
	var slots []uint32
	for slot, through := range p.via {
		if through != nil && (l == nil || through == l) {
			p.via[slot] = nil
			slots = append(slots, uint32(slot))
		}
	}
	p.open -= len(slots)
	if len(slots) > 0 {
		p.complete(slots, err)
	}
	p.settle()
}

// Flush makes the client send its batches; the client's own Flush would also wait for the answers.
func (p *producer) Flush(context.Context) error {
	for _, l := range p.lines {
		if l == nil {
			continue
		}
		if through := l.now(); through != nil {
			p.flushes.Go(func() {
				defer func() { _ = recover() }() // the client closes its queue when it closes a producer, even while it is in use
				_ = through.FlushWithCtx(p.flushing)
			})
		}
	}
	return nil
}

func (p *producer) Close() error {
	p.mu.Lock()
	p.waiting = p.open > 0
	wait := p.waiting
	p.mu.Unlock()
	if wait {
		_ = p.Flush(p.flushing)
		select {
		case <-p.idle:
		case <-time.After(closePatience):
		}
	}
	p.endFlush()
	p.flushes.Wait()
	within(releasePatience, func() {
		for _, l := range p.lines {
			if l != nil {
				l.close()
			}
		}
		p.client.Close()
	})
	p.fail(nil, errUnanswered)
	return nil
}
