package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

// producer adds to streams, or publishes to channels. Each slot's command is allocated once: only stream and payload change.
type producer struct {
	pipes   []*pipe            // one for each node that has streams: several only in a cluster
	parts   [][]driver.Message // messages of a batch, by pipe
	places  [][]place          // by topic, by partition
	turns   []int              // by topic
	command []redis.Cmder      // by slot
	args    [][]any            // likewise
	bodies  []outgoing
}

// place is a stream or channel, and the pipe to its node.
type place struct {
	name any
	pipe int
}

// body is a payload that the client encodes without boxing it for every message.
type body struct{ bytes []byte }

// MarshalBinary implements encoding.BinaryMarshaler, which the client calls.
func (b *body) MarshalBinary() ([]byte, error) { return b.bytes, nil }

// outgoing is the body of a slot, which notes when it is written.
type outgoing struct {
	body
	headers []body
	slot    uint32
	pipe    *pipe
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (o *outgoing) MarshalBinary() ([]byte, error) {
	o.pipe.encoded = o.slot
	return o.bytes, nil
}

const nameArg = 1 // index of the stream's or channel's name in a command

// newProducer makes a producer. template returns the command of a slot, for a stream or channel that is set later.
func (d *session) newProducer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts, template func(p *producer, slot uint32) []any) (*producer, error) {
	p := &producer{
		turns: make([]int, len(d.streams)), command: make([]redis.Cmder, c.InFlight), args: make([][]any, c.InFlight), bodies: make([]outgoing, c.InFlight),
	}
	nodes := map[string]int{} // the pipe of an address
	for _, streams := range d.streams {
		places := make([]place, len(streams))
		for i, s := range streams {
			address, err := d.owner(ctx, s)
			if err != nil {
				p.drop()
				return nil, err
			}
			if places[i].name = s; driver.UsesStock(d.config.Client) { // its client finds the nodes itself
				address = ""
			}
			pipe, ok := nodes[address]
			if !ok {
				if err := p.addPipe(ctx, d, s, r); err != nil {
					p.drop()
					return nil, err
				}
				pipe = len(nodes)
				nodes[address] = pipe
			}
			places[i].pipe = pipe
		}
		p.places = append(p.places, places)
	}
	p.parts = make([][]driver.Message, len(p.pipes))
	for slot := range p.args {
		p.bodies[slot].slot = uint32(slot)
		p.bodies[slot].headers = make([]body, len(c.Headers))
		p.args[slot] = template(p, uint32(slot))
		p.command[slot] = redis.NewStringCmd(context.Background(), p.args[slot]...)
	}
	return p, nil
}

// addPipe adds the pipe to the node that has a stream.
func (p *producer) addPipe(ctx context.Context, d *session, stream string, r driver.Receipts) error {
	pipe := newPipe(r, p.command, int(d.config.Client.Int("pipeline")))
	var reading func()
	if pipe.unanswered = d.config.Guarantee.Acks == driver.AcksNone; pipe.unanswered {
		reading = pipe.handOver
	}
	dial := func(ctx context.Context) (redis.UniversalClient, error) {
		if d.cluster != nil && driver.UsesStock(d.config.Client) {
			return d.dialCluster(), nil
		}
		address, err := d.owner(ctx, stream)
		return d.dial(address, reading), err
	}
	var err error
	if pipe.client, err = dial(ctx); err == nil {
		err = pipe.client.Ping(ctx).Err()
	}
	if err != nil {
		_ = pipe.client.Close()
		return fmt.Errorf("a producer's connection: %w", d.refused(ctx, stream, err))
	}
	if d.cluster != nil {
		pipe.elsewhere = func(ctx context.Context) redis.UniversalClient {
			d.elsewhere(ctx)
			client, err := dial(ctx)
			if err != nil {
				d.logf("%v", err)
			}
			return client
		}
	}
	p.pipes = append(p.pipes, pipe)
	return nil
}

// drop closes the connections of a producer that could not be made.
func (p *producer) drop() {
	for _, pipe := range p.pipes {
		_ = pipe.client.Close()
	}
}

// start begins with sending.
func (p *producer) start() {
	for _, pipe := range p.pipes {
		go pipe.run()
	}
}

// name is the stream or channel of the message in slot.
func (p *producer) name(slot uint32) string { return p.args[slot][nameArg].(string) }

// payload is the payload as the client gets it; without replies it has to note when it is written.
func (p *producer) payload(slot uint32) any {
	if p.bodies[slot].pipe.unanswered {
		return &p.bodies[slot]
	}
	return p.bodies[slot].bytes
}

// payloadField is the field of an entry that holds the payload. Headers are separate fields with a prefix, so that none is
// mistaken for it. The payload is the last field, because it notes that the entry was written.
const (
	payloadField = "d"
	headerPrefix = "h."
)

// fields are the fields of a slot's entry.
func (p *producer) fields(headers []string, slot uint32, payload any) (list []any) {
	for i, name := range headers {
		list = append(list, headerPrefix+name, &p.bodies[slot].headers[i])
	}
	return append(list, payloadField, payload)
}

func (d *session) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return resend.Producer(d.config.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) { return d.producer(ctx, c, r) })
}

func (d *session) producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	var trim []any
	if n := d.config.Topic.Int("MAXLEN"); n > 0 {
		trim = []any{"maxlen", "~", n}
	}
	p, err := d.newProducer(ctx, c, r, func(p *producer, slot uint32) []any {
		return slices.Concat([]any{"xadd", ""}, trim, []any{"*"}, p.fields(c.Headers, slot, &p.bodies[slot]))
	})
	if err != nil {
		return nil, err
	}
	if driver.UsesStock(d.config.Client) {
		fresh := func(ctx context.Context, pipeline redis.Pipeliner, slot uint32) redis.Cmder {
			return pipeline.XAdd(ctx, &redis.XAddArgs{
				Stream: p.name(slot), MaxLen: d.config.Topic.Int("MAXLEN"), Approx: true, Values: p.fields(c.Headers, slot, p.payload(slot)),
			})
		}
		for _, pipe := range p.pipes {
			pipe.fresh = fresh
		}
	}
	for _, pipe := range p.pipes {
		if need := d.awaited(); need > 0 {
			d.awaitCopies(pipe, need)
		}
		pipe.again = d.config.Guarantee.Delivery != driver.AtMostOnce
	}
	p.start()
	return p, nil
}

// awaited is the number of replicas that form a majority together with the primary.
func awaited(g driver.Guarantee) int {
	if g.Acks != driver.AcksQuorum {
		return 0
	}
	return g.Replicas / 2
}

func (d *session) awaited() int {
	if d.cluster != nil {
		return everyCopy(d.config.Guarantee)
	}
	return awaited(d.config.Guarantee)
}

// awaitCopies ends every pipeline with WAIT: need replicas have everything that this connection has written so far. WAITAOF
// answers that this server and that many replicas have also flushed it.
func (d *session) awaitCopies(p *pipe, need int) {
	most := d.config.Client.Duration("WAIT").Milliseconds()
	ctx := context.Background()
	confirmed := redis.NewIntCmd(ctx, "wait", need, most)
	count := func() (int64, error) { return confirmed.Result() }
	p.last = confirmed
	if flushedCopies(d.config.Guarantee) {
		flushed := redis.NewIntSliceCmd(ctx, "waitaof", 1, need, most)
		count = func() (int64, error) {
			n, err := flushed.Result()
			if err != nil || len(n) != 2 || n[0] < 1 {
				return 0, errors.Join(errors.New("the server itself has not flushed the message in time"), err)
			}
			return n[1], nil
		}
		p.last = flushed
	}
	p.judge = func() error {
		if n, err := count(); err != nil || int(n) < need {
			return errors.Join(fmt.Errorf("%d of %d replicas confirmed the message in time", n, need), err)
		}
		return nil
	}
}

// Send queues batch; it never blocks.
func (p *producer) Send(_ context.Context, batch []driver.Message) error {
	for i := range batch {
		m := &batch[i]
		to := choose(p.places[m.Topic], m.Key, &p.turns[m.Topic])
		p.bodies[m.Slot].bytes, p.bodies[m.Slot].pipe = m.Payload, p.pipes[to.pipe]
		for i, value := range m.Headers.Values() {
			p.bodies[m.Slot].headers[i].bytes = value
		}
		p.args[m.Slot][nameArg] = to.name
		if len(p.pipes) > 1 {
			p.parts[to.pipe] = append(p.parts[to.pipe], *m)
		}
	}
	if len(p.pipes) == 1 {
		p.pipes[0].send(batch)
		return nil
	}
	for i, part := range p.parts {
		p.pipes[i].send(part)
		p.parts[i] = part[:0]
	}
	return nil
}

// Flush does nothing: queued messages are sent at once.
func (p *producer) Flush(context.Context) error { return nil }

// Close implements driver.Producer.
func (p *producer) Close() error {
	var wg sync.WaitGroup
	for _, pipe := range p.pipes {
		wg.Go(pipe.close)
	}
	wg.Wait()
	return nil
}
