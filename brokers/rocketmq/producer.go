package rocketmq

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	// closePatience is how long Close waits for answers.
	closePatience = 2 * time.Second
	// buckets are the message groups of ordered messages on several partitions; a key belongs to one.
	buckets = 64
	// overhead is the size of a message beside its payload, for the byte limit of a call.
	overhead = 512
	// idPrefix is the number of leading characters of a message's ID that identify its producer.
	idPrefix = 12
)

var errUnanswered = errors.New("the broker had not answered when the producer was closed")

// producer hands messages to lanes. A lane has one call under way, so that its messages stay in order: the server handles
// the calls of a connection concurrently. Unordered messages go to any free lane.
type producer struct {
	session  *session
	link     *link
	receipts driver.Receipts
	slots    []outgoing
	headers  []string // names
	topics   []*v2.Resource
	lanes    []chan item
	byKey    bool // several message groups: a call carries one message, since the server looks at its group only then
	own      int  // the lane of messages without a key
	early    bool // messages are complete when they are handed over
	once     bool // nothing is sent again, and identities are not looked at

	prefix string
	last   uint64   // number of the last message
	handed []uint32 // slots of the Send that is going on

	// cut counts lost calls. A message that was handed over before the last one and not sent yet fails with it: it must not
	// overtake the lost messages, which are sent again.
	cut     atomic.Uint64
	open    atomic.Int64
	life    context.Context //nolint:containedctx // ends with Close
	end     context.CancelFunc
	working sync.WaitGroup
}

// outgoing is the message of a slot.
type outgoing struct {
	message v2.Message
	system  v2.SystemProperties
	topic   int
}

// item is a message on its way to a lane; message is the slot's, unless messages are complete early.
type item struct {
	*outgoing
	slot uint32
	cut  uint64
}

func newProducer(s *session, c driver.ProducerConfig, r driver.Receipts) (*producer, error) {
	l, err := dial(s.config, c.ID)
	if err != nil {
		return nil, err
	}
	p := &producer{
		session: s, link: l, receipts: r, slots: make([]outgoing, c.InFlight), headers: c.Headers, topics: make([]*v2.Resource, len(s.topology.Topics)),
		early: s.config.Guarantee.Acks == driver.AcksNone, once: s.config.Guarantee.Delivery == driver.AtMostOnce,
		prefix: strings.ToLower(rand.Text()[:idPrefix]) + "-",
	}
	p.life, p.end = context.WithCancel(l.with(context.Background()))
	for _, topic := range c.Topics {
		p.topics[topic] = &v2.Resource{Name: s.topicName(topic)}
		p.byKey = p.byKey || s.ordered() && s.topology.Topics[topic].Partitions > 1
	}
	for i := range p.slots {
		p.slots[i].message.SystemProperties = &p.slots[i].system
	}
	lanes := int(s.config.Client.Int("sends"))
	switch {
	case p.byKey:
		lanes, p.own = buckets, c.ID%buckets
	case s.ordered():
		lanes = 1
	}
	shared := make(chan item, c.InFlight)
	for lane := range lanes {
		queue := shared
		if p.byKey {
			queue = make(chan item, c.InFlight)
		}
		p.lanes = append(p.lanes, queue)
		p.working.Go(func() { p.run(queue, "group-"+strconv.Itoa(lane)) })
	}
	return p, nil
}

func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	cut := p.cut.Load()
	p.handed = p.handed[:0]
	for i := range batch {
		m := &batch[i]
		out := &p.slots[m.Slot]
		payload := m.Payload
		if p.early { // the slot is free again before the message is written
			out = &outgoing{}
			out.message.SystemProperties = &out.system
			payload = append([]byte(nil), payload...)
		}
		out.topic, out.message.Topic, out.message.Body = m.Topic, p.topics[m.Topic], payload
		p.properties(&out.message, m)
		if !m.Resent {
			p.last++
			out.system.MessageId = p.prefix + strconv.FormatUint(p.last, 10)
			out.system.BodyEncoding = v2.Encoding_IDENTITY
		}
		p.open.Add(1)
		select {
		case p.lanes[p.lane(m.Key)] <- item{outgoing: out, slot: m.Slot, cut: cut}: // there is room for every slot, unless they are free early
		case <-ctx.Done():
			p.open.Add(-1)
			p.handOver()
			driver.Fail(p.receipts, batch[i:], context.Cause(ctx))
			return ctx.Err()
		}
		p.handed = append(p.handed, m.Slot)
	}
	p.handOver()
	return nil
}

// properties makes the headers of m the user properties of a message.
func (p *producer) properties(out *v2.Message, m *driver.Message) {
	if out.UserProperties == nil && len(p.headers) > 0 {
		out.UserProperties = make(map[string]string, len(p.headers))
	}
	for i, value := range m.Headers.Values() {
		out.UserProperties[p.headers[i]] = string(value)
	}
}

// handOver completes the slots of a Send whose answer is not waited for.
func (p *producer) handOver() {
	if p.early && len(p.handed) > 0 {
		p.receipts.Done(p.handed, nil)
	}
}

// lane returns the number of the lane that a key belongs to.
func (p *producer) lane(key []byte) int {
	switch {
	case !p.byKey:
		return 0 // they share a queue
	case len(key) == 0:
		return p.own
	}
	h := fnv.New32a()
	_, _ = h.Write(key)
	return int(h.Sum32() % buckets)
}

// run sends the messages of a lane until the producer ends.
func (p *producer) run(queue chan item, group string) {
	v := p.session.config.Client
	c := &call{producer: p, most: int(v.Int("batch")), mostBytes: int(v.Int("batch.bytes"))}
	if p.byKey {
		c.most = 1
	}
	if p.session.ordered() {
		c.group, c.kind = &group, v2.MessageType_FIFO
	} else {
		c.kind = v2.MessageType_NORMAL
	}
	for {
		select {
		case first := <-queue:
			c.gather(first, queue)
		case <-p.life.Done():
			for {
				select {
				case left := <-queue:
					p.done([]uint32{left.slot}, errUnanswered)
				default:
					return
				}
			}
		}
	}
}

// done reports the outcome of slots, unless they were completed when they were handed over.
func (p *producer) done(slots []uint32, err error) {
	if !p.early && len(slots) > 0 {
		p.receipts.Done(slots, err)
	}
	p.open.Add(-int64(len(slots)))
}

// call is the SendMessage calls of one lane, made one after the other.
type call struct {
	producer        *producer
	most, mostBytes int
	group           *string // of ordered messages
	kind            v2.MessageType

	request v2.SendMessageRequest
	slots   []uint32
	stale   [1]uint32
	topic   int
	bytes   int
}

// gather sends first and the messages that came with it, call by call, until the queue is empty.
func (c *call) gather(first item, queue chan item) {
	c.take(first)
	for {
		select {
		case next := <-queue:
			if len(c.slots) > 0 && !c.fits(next) {
				c.send()
			}
			c.take(next)
		default:
			if len(c.slots) == 0 {
				return
			}
			c.send()
		}
	}
}

func (c *call) fits(i item) bool {
	return len(c.slots) < c.most && i.topic == c.topic && c.bytes+len(i.message.Body)+overhead <= c.mostBytes
}

// take puts a message into the next call, or fails it where a call that it must not overtake was lost.
func (c *call) take(i item) {
	p := c.producer
	if !p.once && i.cut != p.cut.Load() {
		c.stale[0] = i.slot
		p.done(c.stale[:], fmt.Errorf("%w: a call before it was lost", driver.ErrDisconnected))
		return
	}
	i.system.MessageType, i.system.MessageGroup = c.kind, c.group
	c.request.Messages = append(c.request.Messages, &i.message)
	c.slots = append(c.slots, i.slot)
	c.topic, c.bytes = i.topic, c.bytes+len(i.message.Body)+overhead
}

func (c *call) send() {
	p := c.producer
	reply, err := p.link.SendMessage(p.life, &c.request)
	switch {
	case err == nil:
		err = refusal(reply.GetStatus())
	case p.life.Err() != nil:
		err = fmt.Errorf("%w: %w", errUnanswered, err)
	case lost(err):
		err = fmt.Errorf("%w: %w", driver.ErrDisconnected, err)
	}
	if errors.Is(err, driver.ErrDisconnected) {
		p.cut.Add(1) // before the errors are reported
	}
	p.done(c.slots, err)
	clear(c.request.Messages)
	c.request.Messages, c.slots, c.bytes = c.request.Messages[:0], c.slots[:0], 0
}

// Flush has nothing to push out: a lane that is free sends at once.
func (p *producer) Flush(context.Context) error { return nil }

func (p *producer) Close() error {
	for end := time.Now().Add(closePatience); p.open.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	p.end()
	p.working.Wait()
	p.link.close()
	return nil
}
