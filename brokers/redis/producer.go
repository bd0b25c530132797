package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/driver"
)

var errClosed = errors.New("the producer was closed before the server replied; the message may have been stored all the same")

// pipe sends the commands of a producer on one connection, those that gathered while the last replies were awaited in
// one pipeline:
//
//	Send ── slots ──> queue ──(run)──> write all, read all ──> Done
//
// The contract's Send must not wait for replies, the client's Exec does, hence the goroutine.
type pipe struct {
	client   *redis.Client
	receipts driver.Receipts
	most     int           // commands per pipeline
	command  []redis.Cmder // by slot
	last     redis.Cmder   // ends every pipeline; nil: none
	judge    func() error  // of last

	mu      sync.Mutex
	queue   []uint32
	closed  bool
	awake   chan struct{} // holds one wake-up
	ended   chan struct{}
	stop    context.CancelFunc
	stopped context.Context //nolint:containedctx // ends with the pipe, not with a call
}

func newPipe(client *redis.Client, r driver.Receipts, slots, most int) *pipe {
	p := &pipe{
		client: client, receipts: r, most: most, command: make([]redis.Cmder, slots),
		queue: make([]uint32, 0, slots), awake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	p.stopped, p.stop = context.WithCancel(context.Background())
	return p
}

func (p *pipe) send(batch []driver.Message) {
	p.mu.Lock()
	for i := range batch {
		p.queue = append(p.queue, batch[i].Slot)
	}
	p.mu.Unlock()
	select {
	case p.awake <- struct{}{}:
	default:
	}
}

// run ends when the pipe is closed and the queue is empty.
func (p *pipe) run() {
	defer close(p.ended)
	taken := make([]uint32, 0, len(p.command))
	for {
		p.mu.Lock()
		p.queue, taken = taken[:0], p.queue
		closed := p.closed
		p.mu.Unlock()
		if len(taken) == 0 {
			if closed {
				return
			}
			<-p.awake
			continue
		}
		for from := 0; from < len(taken); from += p.most {
			p.exec(taken[from:min(from+p.most, len(taken))])
		}
	}
}

// exec settles slots. After a lost connection it pauses, so that a dead server costs no more than an attempt now and
// then; back-pressure is then felt as a lack of slots.
func (p *pipe) exec(slots []uint32) {
	if p.stopped.Err() != nil {
		p.receipts.Done(slots, errClosed)
		return
	}
	pipeline := p.client.Pipeline()
	for _, s := range slots {
		p.command[s].SetErr(nil)
		_ = pipeline.Process(context.Background(), p.command[s])
	}
	if p.last != nil {
		p.last.SetErr(nil)
		_ = pipeline.Process(context.Background(), p.last)
	}
	_, err := pipeline.Exec(context.Background())
	if err == nil && p.last != nil {
		err = p.judge()
		p.receipts.Done(slots, err)
		return
	}
	if err == nil {
		p.receipts.Done(slots, nil)
		return
	}
	for from, to := 0, 0; from < len(slots); from = to {
		fate := p.command[slots[from]].Err()
		for to = from + 1; to < len(slots) && p.command[slots[to]].Err() == fate; to++ { //nolint:errorlint // the same
		}
		if fate == nil && p.last != nil {
			fate = p.judge()
		}
		p.receipts.Done(slots[from:to], fate)
	}
	if lost(err) {
		wait(p.stopped, retryPause)
	}
}

// close gives the last replies a moment, then closes the connection, which fails what is still awaited.
func (p *pipe) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.send(nil)
	select {
	case <-p.ended:
	case <-time.After(closeBudget):
	}
	p.stop()
	_ = p.client.Close()
	<-p.ended
}

// producer adds to streams, or publishes to channels. Everything of a command is made once per slot: only stream and payload change.
type producer struct {
	*pipe
	names  [][]any // by topic, by partition
	turns  []int   // by topic
	args   [][]any // by slot
	bodies []body
}

// body is a payload as the client encodes it without boxing it anew for every message.
type body struct{ bytes []byte }

// MarshalBinary implements encoding.BinaryMarshaler, which is what the client calls.
func (b *body) MarshalBinary() ([]byte, error) { return b.bytes, nil }

const nameArg = 1 // where the name of the stream or channel stands in a command

// newProducer makes a producer whose command for a payload is what template says, to a stream or channel not yet named.
func (d *session) newProducer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts, template func(payload *body) []any) (*producer, error) {
	client := d.dial(d.address)
	if err := client.Ping(ctx).Err(); err != nil {
		_ = client.Close()
		return nil, explain(d.address, err)
	}
	p := &producer{
		pipe:  newPipe(client, r, c.InFlight, int(d.config.Client.Int("pipeline"))),
		turns: make([]int, len(d.streams)), args: make([][]any, c.InFlight), bodies: make([]body, c.InFlight),
	}
	for _, streams := range d.streams {
		var names []any
		for _, s := range streams {
			names = append(names, s)
		}
		p.names = append(p.names, names)
	}
	for slot := range p.args {
		p.args[slot] = template(&p.bodies[slot])
		p.command[slot] = redis.NewStringCmd(context.Background(), p.args[slot]...)
	}
	return p, nil
}

func (d *session) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	var trim []any
	if n := d.config.Topic.Int("MAXLEN"); n > 0 {
		trim = []any{"maxlen", "~", n}
	}
	p, err := d.newProducer(ctx, c, r, func(payload *body) []any {
		return slices.Concat([]any{"xadd", ""}, trim, []any{"*", "d", payload})
	})
	if err != nil {
		return nil, err
	}
	if need := awaited(d.config.Guarantee); need > 0 {
		d.awaitCopies(p.pipe, need)
	}
	go p.run()
	return p, nil
}

// awaited is how many replicas make a majority together with the primary.
func awaited(g driver.Guarantee) int {
	if g.Acks != driver.AcksQuorum {
		return 0
	}
	return g.Replicas / 2
}

// awaitCopies ends every pipeline with WAIT: so many replicas have all that this connection has written so far.
func (d *session) awaitCopies(p *pipe, need int) {
	cmd := redis.NewIntCmd(context.Background(), "wait", need, d.config.Client.Duration("WAIT").Milliseconds())
	p.last = cmd
	p.judge = func() error {
		if n, err := cmd.Result(); err != nil || int(n) < need {
			return errors.Join(fmt.Errorf("%d of %d replicas confirmed the message in time", n, need), err)
		}
		return nil
	}
}

// Send queues batch; it never blocks.
func (p *producer) Send(_ context.Context, batch []driver.Message) error {
	for i := range batch {
		m := &batch[i]
		p.bodies[m.Slot].bytes = m.Payload
		p.args[m.Slot][nameArg] = choose(p.names[m.Topic], m.Key, &p.turns[m.Topic])
	}
	p.send(batch)
	return nil
}

// Flush has nothing to do: what is queued is on its way.
func (p *pipe) Flush(context.Context) error { return nil }

// Close implements driver.Producer.
func (p *pipe) Close() error {
	p.close()
	return nil
}
