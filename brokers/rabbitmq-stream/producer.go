package rabbitmqstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"
	"github.com/spaolacci/murmur3"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

const closingConfirms = time.Second // what Close gives outstanding confirms

var errLost = fmt.Errorf("%w before the broker confirmed", driver.ErrDisconnected)

// producer has a lane for every stream that it sends to, and connections of its own below them.
type producer struct {
	d        *streams
	cfg      driver.ProducerConfig
	receipts driver.Receipts
	slots    []outgoing
	routes   map[int][]*lane // by topic, by partition
	lanes    []*lane
	touched  []*lane // by one Send; reused
	hash     hash.Hash32
	turn     int // of the next message without a key

	open    atomic.Int64 // slots without an outcome
	idle    chan struct{}
	closing atomic.Bool
	running context.Context //nolint:containedctx // ends with the producer, not with a call
	stop    context.CancelFunc
	ended   sync.WaitGroup // of lanes

	connecting sync.Mutex
	current    *share // nil: to be dialled
	dials      int
}

// share is a link that several lanes use.
type share struct {
	*link
	users int
}

// Producer declares a publisher for every stream of its topics. With exactly-once they have names, by which the server
// recognises repeated messages.
func (d *streams) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return resend.Producer(d.cfg.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) {
		return d.producer(ctx, c, r)
	})
}

func (d *streams) producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (*producer, error) {
	if err := inFrame(d.cfg.Client, c.MaxBytes); err != nil {
		return nil, err
	}
	p := &producer{
		d: d, cfg: c, receipts: r, slots: make([]outgoing, c.InFlight), routes: map[int][]*lane{}, idle: make(chan struct{}, 1),
		hash: murmur3.New32WithSeed(stream.SEED),
	}
	p.running, p.stop = context.WithCancel(context.Background())
	name := ""
	if d.cfg.Guarantee.Delivery == driver.ExactlyOnce {
		// Another producer of this ID must not be taken for this one: its messages would be duplicates.
		name = fmt.Sprintf("brokermark-%d-%s", c.ID, rand.Text())
	}
	for _, t := range c.Topics {
		for _, s := range streamsOf(d.topo.Topics[t]) {
			l := newLane(p, s, name)
			p.routes[t] = append(p.routes[t], l)
			p.lanes = append(p.lanes, l)
		}
	}
	for _, l := range p.lanes {
		pub, err := p.connect(ctx, l)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		l.rise(pub)
		p.ended.Go(func() { l.run(pub) })
	}
	return p, nil
}

// route picks the partition: by the key as the clients of super streams do; without one in turn, or always the same
// where order was asked for.
func (p *producer) route(m *driver.Message) *lane {
	lanes := p.routes[m.Topic]
	switch {
	case len(lanes) == 1:
		return lanes[0]
	case m.Resent && p.slots[m.Slot].home != nil:
		return p.slots[m.Slot].home
	case len(m.Key) > 0:
		p.hash.Reset() // murmur3.Sum32WithSeed is faster, and reads beyond the key's end
		_, _ = p.hash.Write(m.Key)
		return lanes[p.hash.Sum32()%uint32(len(lanes))]
	case p.d.cfg.Guarantee.Ordering == driver.Ordered:
		return lanes[p.cfg.ID%len(lanes)]
	}
	p.turn++
	return lanes[p.turn%len(lanes)]
}

// Send queues batch on its lanes, whose writers put into one frame all messages queued since the last one. It waits a while
// for a lane without a connection. If none comes, or the connection is lost meanwhile, the lane's remaining messages fail,
// lest later ones overtake earlier ones.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	var failed []uint32
	var patience <-chan time.Time
	for i := range batch {
		m := &batch[i]
		l := p.route(m)
		if !m.Resent { // a repeated message keeps its number, if it has one
			p.slots[m.Slot].home = nil
		}
		if !l.touched {
			l.touched, p.touched = true, append(p.touched, l)
			var free bool
			if l.since, free = l.state(); free && l.since == 0 {
				if patience == nil {
					patience = time.After(retryPause)
				}
				if l.since = l.await(ctx, patience); l.since == 0 {
					patience = fired
				}
			}
		}
		if !l.take(m) {
			failed = append(failed, m.Slot)
		}
	}
	for _, l := range p.touched {
		l.touched = false
		l.nudge()
	}
	p.touched = p.touched[:0]
	if len(failed) > 0 {
		p.receipts.Done(failed, fmt.Errorf("no connection: %w", driver.ErrDisconnected))
	}
	return ctx.Err()
}

// fired is the channel of a timer that is over.
var fired = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// done reports slots, which the caller has taken down as no longer open.
func (p *producer) done(slots []uint32, err error) {
	if len(slots) == 0 {
		return
	}
	p.receipts.Done(slots, err)
	if p.open.Add(-int64(len(slots))) == 0 && p.closing.Load() {
		select {
		case p.idle <- struct{}{}:
		default:
		}
	}
}

// connect makes l's publisher, on the link of the other lanes where there is one.
func (p *producer) connect(ctx context.Context, l *lane) (*publisher, error) {
	p.connecting.Lock()
	defer p.connecting.Unlock()
	if p.current == nil {
		fresh, err := p.d.dial(ctx, p.cfg.ID+p.dials)
		p.dials++
		if err != nil {
			return nil, err
		}
		p.current = &share{link: fresh}
	}
	s := p.current
	ctx, cancel := context.WithTimeout(ctx, leaderWait)
	defer cancel()
	options := p.d.publisher(p.cfg, l.name)
	pub, err := within(ctx, func() (pub *publisher, err error) {
		err = available(ctx, func() error {
			pub, err = declare(s, l.stream, options)
			return err
		})
		return pub, err
	}, nil)
	if err != nil {
		if p.current = nil; s.users == 0 {
			s.close()
		}
		if errors.Is(err, stream.PreconditionFailed) { // of a node that has raised an alarm
			err = fmt.Errorf("%w; %s", err, rabbitserver.Silence)
		}
		return nil, fmt.Errorf("declare a publisher to stream %s: %w", l.stream, err)
	}
	s.users++
	return pub, nil
}

// leave ends a lane's use of a link; the next connection is made over a new one.
func (p *producer) leave(s *share) {
	p.connecting.Lock()
	s.users--
	last := s.users == 0
	if p.current == s {
		p.current = nil
	}
	p.connecting.Unlock()
	if last {
		p.ended.Go(s.close)
	}
}

// Flush has nothing to do: the lanes' writers hold nothing back.
func (p *producer) Flush(context.Context) error { return nil }

// Close gives outstanding confirms a moment, then ends the lanes and fails their remaining messages. A lane whose writer is
// stuck in a frozen broker ends on its own later.
func (p *producer) Close() error {
	p.closing.Store(true)
	if p.open.Load() > 0 {
		select {
		case <-p.idle:
		case <-time.After(closingConfirms):
		}
	}
	p.stop()
	ended := make(chan struct{})
	go func() { p.ended.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(closeTimeout):
	}
	for _, l := range p.lanes {
		l.fall(errLost)
	}
	p.connecting.Lock()
	defer p.connecting.Unlock()
	if p.current != nil && p.current.users == 0 {
		p.current.close()
	}
	return nil
}
