package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

// producer adds to streams, or publishes to channels. Everything of a command is made once per slot: only stream and payload change.
type producer struct {
	*pipe
	names  [][]any // by topic, by partition
	turns  []int   // by topic
	args   [][]any // by slot
	bodies []outgoing
}

// body is a payload as the client encodes it without boxing it anew for every message.
type body struct{ bytes []byte }

// MarshalBinary implements encoding.BinaryMarshaler, which is what the client calls.
func (b *body) MarshalBinary() ([]byte, error) { return b.bytes, nil }

// outgoing is the body of a slot, which notes that it was written.
type outgoing struct {
	body
	slot uint32
	pipe *pipe
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (o *outgoing) MarshalBinary() ([]byte, error) {
	o.pipe.encoded = o.slot
	return o.bytes, nil
}

const nameArg = 1 // where the name of the stream or channel stands in a command

// newProducer makes a producer whose command for a payload is what template says, to a stream or channel not yet named.
func (d *session) newProducer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts, template func(payload *outgoing) []any) (*producer, error) {
	var reading func()
	pipe := newPipe(r, c.InFlight, int(d.config.Client.Int("pipeline")))
	if pipe.unanswered = d.config.Guarantee.Acks == driver.AcksNone; pipe.unanswered {
		reading = pipe.handOver
	}
	pipe.client = d.dial(d.address, reading)
	if err := pipe.client.Ping(ctx).Err(); err != nil {
		_ = pipe.client.Close()
		return nil, explain(d.address, err)
	}
	p := &producer{
		pipe:  pipe,
		turns: make([]int, len(d.streams)), args: make([][]any, c.InFlight), bodies: make([]outgoing, c.InFlight),
	}
	for _, streams := range d.streams {
		var names []any
		for _, s := range streams {
			names = append(names, s)
		}
		p.names = append(p.names, names)
	}
	for slot := range p.args {
		p.bodies[slot].slot, p.bodies[slot].pipe = uint32(slot), pipe
		p.args[slot] = template(&p.bodies[slot])
		p.command[slot] = redis.NewStringCmd(context.Background(), p.args[slot]...)
	}
	return p, nil
}

// name is the stream or channel of the message in slot.
func (p *producer) name(slot uint32) string { return p.args[slot][nameArg].(string) }

// payload is what the client is given of it; where nobody answers it has to note that it was written.
func (p *producer) payload(slot uint32) any {
	if p.unanswered {
		return &p.bodies[slot]
	}
	return p.bodies[slot].bytes
}

func (d *session) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return resend.Producer(d.config.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) { return d.producer(ctx, c, r) })
}

func (d *session) producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	var trim []any
	if n := d.config.Topic.Int("MAXLEN"); n > 0 {
		trim = []any{"maxlen", "~", n}
	}
	p, err := d.newProducer(ctx, c, r, func(payload *outgoing) []any {
		return slices.Concat([]any{"xadd", ""}, trim, []any{"*", "d", payload})
	})
	if err != nil {
		return nil, err
	}
	if driver.UsesStock(d.config.Client) {
		p.fresh = func(ctx context.Context, pipeline redis.Pipeliner, slot uint32) redis.Cmder {
			return pipeline.XAdd(ctx, &redis.XAddArgs{
				Stream: p.name(slot), MaxLen: d.config.Topic.Int("MAXLEN"), Approx: true, Values: []any{"d", p.payload(slot)},
			})
		}
	}
	if need := awaited(d.config.Guarantee); need > 0 {
		d.awaitCopies(p.pipe, need)
	}
	p.again = d.config.Guarantee.Delivery != driver.AtMostOnce
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
	if len(batch) > 0 {
		p.send(batch)
	}
	return nil
}
