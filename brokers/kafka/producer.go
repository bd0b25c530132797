package kafka

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

// closePatience is how long Close waits for answers before it gives up messages in flight.
const closePatience = 3 * time.Second

type producer struct {
	client   *kgo.Client
	topics   []driver.Topic
	headers  []string // names
	records  []record // by slot
	receipts driver.Receipts
	promise  func(*kgo.Record, error)
	acks     *acks      // nil for exactly once
	commits  *committer // only for exactly once
	given    uint64     // slots ever passed to Send; used by its goroutine
	failed   atomic.Uint64
	bounded  bool      // by buffer.memory
	stock    bool      // allocates a record for each message
	slot     [1]uint32 // that has failed; promises are called one after the other
}

// record is the record of one slot. The embedded record comes first, so that the client's pointer to it, which is the only
// argument of a promise, leads back to the slot.
type record struct {
	kgo.Record
	slot uint32
}

func slotOf(r *kgo.Record) uint32 { return (*record)(unsafe.Pointer(r)).slot }

// Producer makes a producer whose client itself sends again what a lost connection has left open. Only a transaction that the
// broker has aborted meanwhile can't be repeated by the client.
func (k *kafka) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if g := k.config.Guarantee; g.Delivery == driver.ExactlyOnce {
		return resend.Producer(g, c, r, func(r driver.Receipts) (driver.Producer, error) { return k.producer(c, r) })
	}
	return k.producer(c, r)
}

func (k *kafka) producer(c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	g, v := k.config.Guarantee, k.config.Client
	if err := fitting(k.config, c.MaxBytes); err != nil {
		return nil, err
	}
	opts := append(producerOptions(g, v),
		batches(v, c.MaxBytes),
		kgo.WithHooks(&throttled{receipts: r}),
		kgo.MaxBufferedRecords(2*c.InFlight+1)) // a slot is returned just before the client counts it as gone
	opts = append(opts, kgo.RecordPartitioner(partitioner(g, v, c.ID)))
	opts = append(opts, buffered(v)...)
	if g.Delivery == driver.ExactlyOnce {
		// The outcome of a commit that is given up is unknown for ever.
		opts = append(opts, kgo.RetryTimeout(millis(v, "delivery.timeout.ms")), kgo.TransactionalID(fmt.Sprintf("%s.%d", k.topology.Topics[c.Topics[0]].Name, c.ID)))
	}
	client, err := kgo.NewClient(append(opts, k.common...)...)
	if err != nil {
		return nil, driver.Unsupported("client settings", "franz-go says: %v", err)
	}
	p := &producer{client: client, topics: k.topology.Topics, headers: c.Headers, records: make([]record, c.InFlight), receipts: r, bounded: v.Int("buffer.memory") > 0, stock: driver.UsesStock(v)}
	for slot := range p.records {
		p.records[slot].slot = uint32(slot)
		p.records[slot].Headers = p.unset()
	}
	if g.Delivery == driver.ExactlyOnce {
		patience := millis(v, "delivery.timeout.ms") // also with transactions, whose messages wait for the commit only
		if patience == 0 {
			patience = math.MaxInt64
		}
		p.commits = newCommitter(client, r, millis(v, "commit.interval.ms"), patience, c.InFlight)
		return p, nil
	}
	p.acks = newAcks(r, c.InFlight)
	p.promise = p.answered
	return p, nil
}

func (p *producer) answered(r *kgo.Record, err error) {
	if err == nil {
		p.acks.push(slotOf(r))
		return
	}
	p.slot[0] = slotOf(r)
	p.receipts.Done(p.slot[:], refusal(r, err))
	p.failed.Add(1)
}

// Send stamps the records of a batch with one creation time: Kafka's time has no meaning here, and reading the clock for each
// record costs as much as the rest of Send.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	now := time.Now()
	if !p.bounded { // nothing here waits, and messages under way outlive the call
		ctx = context.Background()
	}
	for i := range batch {
		m := &batch[i]
		r := p.record(m.Slot, now)
		r.Topic, r.Key, r.Value = p.topics[m.Topic].Name, nil, m.Payload
		if len(m.Key) > 0 {
			r.Key = m.Key
		}
		for i, value := range m.Headers.Values() {
			r.Headers[i].Value = value
		}
		if p.commits == nil {
			p.client.Produce(ctx, r, p.promise)
		} else {
			p.commits.add(r, m.Resent)
		}
	}
	p.given += uint64(len(batch))
	return nil
}

// record returns the record of a slot. In stock mode it allocates one for each message and lets the client set its time, as
// applications do.
func (p *producer) record(slot uint32, now time.Time) *kgo.Record {
	if p.stock {
		return &(&record{Record: kgo.Record{Headers: p.unset()}, slot: slot}).Record
	}
	r := &p.records[slot].Record
	r.Timestamp = now
	return r
}

// unset returns headers without values.
func (p *producer) unset() []kgo.RecordHeader {
	if len(p.headers) == 0 {
		return nil
	}
	headers := make([]kgo.RecordHeader, len(p.headers))
	for i, name := range p.headers {
		headers[i].Key = name
	}
	return headers
}

// past is an ended context: Flush then starts sending buffered records and doesn't wait for answers.
var past = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (p *producer) Flush(context.Context) error {
	if p.commits == nil {
		_ = p.client.Flush(past)
	}
	return nil
}

func (p *producer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if p.commits != nil {
		p.commits.close(ctx)
		return nil
	}
	_ = p.client.Flush(ctx)
	p.client.Close()
	for p.acks.head.Load()+p.failed.Load() < p.given { // the client fails the remaining records from a goroutine of its own
		time.Sleep(time.Millisecond)
	}
	p.acks.close()
	return nil
}
