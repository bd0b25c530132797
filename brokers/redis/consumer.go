package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/driver"
)

// Consume is one consumer of its subscription's group. It reconnects until ctx ends; unacknowledged messages are read again.
func (d *session) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if err := driver.TakeTurnsAtPartitions(d.config.Guarantee, d.config.Topic, c.ID+1, len(d.streams[c.Topic])); err != nil {
		return err
	}
	var streams []string
	for _, topic := range c.Topics() {
		for _, partition := range c.Partitions(len(d.streams[topic])) {
			streams = append(streams, d.streams[topic][partition])
		}
	}
	if d.cluster != nil && len(streams) > 1 {
		return d.sideBySide(ctx, c, streams, s, ready)
	}
	return d.keepConsuming(ctx, c, streams, s, ready)
}

func (d *session) keepConsuming(ctx context.Context, c driver.ConsumerConfig, streams []string, s driver.Sink, ready func()) error {
	up := false
	registered := func() {
		if !up {
			up = true
			ready()
		}
	}
	opening, cancel := context.WithTimeout(ctx, openBudget)
	defer cancel()
	for again := false; ; again = true {
		err := d.consume(ctx, c, streams, s, registered, again)
		if ctx.Err() != nil {
			return nil
		}
		// The node with the streams may be gone without the driver knowing it yet.
		if denied(err) || !up && (d.cluster == nil || !lost(err) || opening.Err() != nil) {
			return fmt.Errorf("consume from %s: %w", streams[0], d.refused(ctx, streams[0], err))
		}
		d.logf("consumer %d of %s: %v; connecting again", c.ID, streams[0], err)
		d.elsewhere(ctx)
	}
}

// errInterrupted ends a connection on which the consumer was registered.
var errInterrupted = errors.New("interrupted")

func (d *session) consume(ctx context.Context, c driver.ConsumerConfig, streams []string, s driver.Sink, registered func(), again bool) error {
	var client redis.UniversalClient
	if d.cluster != nil && driver.UsesStock(d.config.Client) {
		client = d.dialCluster()
	} else {
		address, err := d.owner(ctx, streams[0])
		if err != nil {
			return err
		}
		client = d.dial(address, nil)
	}
	defer client.Close()
	defer context.AfterFunc(ctx, func() { _ = client.Close() })() // only this ends a waiting read
	group, name := d.subscriptions[c.Subscription], fmt.Sprintf("c%d", c.ID)
	if again && !d.found { // groups in memory only are lost in a restart, and messages since then have not been read
		if err := d.groups(ctx, client, streams, "0"); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(streams, setupAtOnce) {
		pipeline := client.Pipeline()
		for _, stream := range some {
			pipeline.XGroupCreateConsumer(ctx, stream, group, name)
		}
		if _, err := pipeline.Exec(ctx); err != nil {
			return fmt.Errorf("name the consumer: %w", err)
		}
	}
	registered()
	read := d.reader(client, streams, group, name, s, c.Headers).read
	if driver.UsesStock(d.config.Client) {
		read = d.stockReader(client, streams, group, name, s, c.Headers).read
	}
	// Pending messages of an earlier connection come first, and again whenever nothing else comes: one of its commands may have
	// been waiting in a frozen server.
	behind := true
	for {
		n, err := read(ctx, behind)
		if err != nil {
			return fmt.Errorf("%w: %w", errInterrupted, err)
		}
		if n == 0 {
			behind = !behind && again
		}
	}
}

// reader reads the streams of one topic for one consumer. Each round trip acknowledges the messages of the one before, and reads
// on; only the read waits for new messages, not the acknowledgement.
type reader struct {
	client   redis.UniversalClient
	sink     driver.Sink
	fresh    []any // XREADGROUP of new messages
	pending  []any // XREADGROUP of delivered and unacknowledged messages
	acks     map[string]*acks
	due      []*acks // those with IDs from the last read
	messages []message
	came     driver.Batch
	count    int
}

// acks is an XACK of one stream. The IDs are slices of the last reply.
type acks struct {
	args []any
	ids  []body
	head int // arguments before the first id
}

func (d *session) reader(client redis.UniversalClient, streams []string, group, name string, s driver.Sink, headers []string) *reader {
	c := d.config.Client
	count := int(c.Int("COUNT"))
	args := []any{"xreadgroup", "group", group, name, "count", count, "block", c.Duration("BLOCK").Milliseconds()}
	r := &reader{client: client, sink: s, count: count, acks: map[string]*acks{}, messages: make([]message, 0, count), came: driver.NewBatch(headers, count)}
	once := d.config.Guarantee.Delivery == driver.AtMostOnce
	if once {
		args = append(args, "noack")
	}
	args = append(args, "streams")
	for _, stream := range streams {
		args = append(args, stream)
		if !once {
			r.acks[stream] = &acks{args: []any{"xack", stream, group}, head: 3}
		}
	}
	r.fresh, r.pending = slices.Clone(args), args
	for range streams {
		r.fresh, r.pending = append(r.fresh, ">"), append(r.pending, "0")
	}
	return r
}

// read delivers n messages, or returns after a time without any.
func (r *reader) read(ctx context.Context, behind bool) (n int, err error) {
	args := r.fresh
	if behind {
		args = r.pending
	}
	pipeline := r.client.Pipeline()
	for _, a := range r.due {
		_ = pipeline.Process(ctx, redis.NewIntCmd(ctx, a.args...))
	}
	cmd := redis.NewRawCmd(ctx, args...)
	_ = pipeline.Process(ctx, cmd)
	if _, err := pipeline.Exec(ctx); err != nil {
		return 0, err
	}
	for _, a := range r.due {
		a.args = a.args[:a.head]
	}
	r.due = r.due[:0]
	p := parser{rest: cmd.Val()}
	err = p.each(r.messages, func(stream []byte, list []message) {
		n += len(list)
		r.deliver(r.acks[string(stream)], list)
	})
	return n, err
}

func (r *reader) deliver(a *acks, list []message) {
	for i := range list {
		if list[i].payload != nil { // otherwise it was trimmed before it could be read again
			r.came.Add(list[i].payload, list[i].header)
		}
	}
	r.came.Deliver(r.sink)
	if a == nil {
		return
	}
	r.due = append(r.due, a)
	if len(a.ids) < len(list) { // allocated only for busy streams: there may be thousands
		a.ids = make([]body, r.count)
	}
	for i := range list {
		a.ids[i].bytes = list[i].id
		a.args = append(a.args, &a.ids[i])
	}
}
