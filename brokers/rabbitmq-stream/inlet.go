package rabbitmqstream

import (
	"sync"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/brokermark/brokermark/internal/driver"
)

// deliverBatch is the most messages handed to the sink at once.
const deliverBatch = 256

// place is how far a subscription has come in a stream: the offset behind the last delivered message.
type place struct {
	mu   sync.Mutex // held while messages from there are delivered
	next int64
}

// placeOf returns the consumer's own place; with a guarantee against duplicates, the place that all consumers of the
// subscription in this process share, since they may take over from each other.
func (d *streams) placeOf(subscription, name string, own map[string]*place) *place {
	places := own
	if d.cfg.Guarantee.Delivery != driver.AtLeastOnce {
		d.mu.Lock()
		defer d.mu.Unlock()
		places = d.places
	}
	key := subscription + "\x00" + name
	if places[key] == nil {
		places[key] = &place{}
	}
	return places[key]
}

func (p *place) reached() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

// inlet gathers the messages of one stream: those of a chunk are delivered together.
type inlet struct {
	in    *intake
	place *place

	// the client's dispatching goroutine's
	chunk  stream.ConsumerContext
	chunks int
	left   int // entries of chunk that are still to come
	first  int64
	came   driver.Batch

	mu       sync.Mutex
	consumer *stream.Consumer
	unstored int
	storedAt time.Time
	end      int64 // behind the last delivered
}

// take gathers a message. A subscription that begins inside a chunk gets only the chunk's end, so the last message can't be
// recognised; nor can it with sub-entries, which count as one.
func (i *inlet) take(c stream.ConsumerContext, m *amqp.Message) {
	if c != i.chunk {
		i.came.Reset() // of a chunk that was broken off because another consumer took over
		i.chunk, i.left = c, int(c.GetEntriesCount())
		i.chunks++
	}
	if i.came.Len() == 0 {
		i.first = c.Consumer.GetOffset()
	}
	var body []byte
	if len(m.Data) > 0 {
		body = m.Data[0]
	}
	i.came.Add(body, func(name string) []byte { return driver.Text(m.ApplicationProperties, name) })
	if i.left--; i.left <= 0 || i.chunks == 1 || i.came.Len() == deliverBatch {
		i.deliver(c.Consumer)
		i.came.Reset()
	}
}

func (i *inlet) deliver(c *stream.Consumer) {
	if !i.handOver() || i.in.d.cfg.Guarantee.Delivery == driver.AtMostOnce {
		return
	}
	i.mu.Lock()
	if i.consumer = c; i.unstored == 0 {
		i.storedAt = time.Now()
	}
	i.unstored += i.came.Len()
	i.end = i.first + int64(i.came.Len())
	due := i.unstored >= int(i.in.d.cfg.Client.Int("offset.store.every"))
	i.mu.Unlock()
	if due {
		i.store(0)
	}
}

// handOver gives the sink the messages that it has not had yet.
func (i *inlet) handOver() bool {
	i.place.mu.Lock()
	defer i.place.mu.Unlock()
	i.in.mu.Lock()
	defer i.in.mu.Unlock()
	end := i.first + int64(i.came.Len())
	if i.in.stopped {
		return false
	}
	if end <= i.place.next {
		return true
	}
	fresh := i.came.From(int(max(0, i.place.next-i.first)))
	if i.in.d.cfg.Guarantee.Delivery == driver.AtMostOnce {
		i.place.next = end
	}
	i.in.sink.Deliver(fresh)
	i.place.next = end
	return true
}

// store sends the subscription's offset to the server if the last store is at least delay ago: the next consumer begins
// behind it. The server doesn't answer.
func (i *inlet) store(delay time.Duration) {
	i.mu.Lock()
	c, offset := i.consumer, i.end-1
	if i.unstored == 0 || time.Since(i.storedAt) < delay {
		i.mu.Unlock()
		return
	}
	i.unstored = 0
	i.mu.Unlock()
	_ = c.StoreCustomOffset(offset) // fails with the connection: then it comes again
}
