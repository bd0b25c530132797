package worker

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// maxBatch bounds how many messages one Send carries.
const maxBatch = 512

// client is one connection of the broker's client library that sends messages (conn). It sends for one producer of the plan, or
// for several that share it. What one producer sends is a stream.
//
// A client has a fixed number of slots, one for each message that may be unconfirmed at once. With 100 slots, of which 98 are
// taken, it can send 2 more messages before one of the others is confirmed. A message takes a free slot, is stamped and booked
// (fillSlot), and is sent in a batch (send). When the broker has confirmed it, the library names its slot (Done), which is free
// again then. Per message, nothing allocates memory or takes a lock.
//
// The goroutine that sends a trial and the one that probes use a client one after the other, never at once. Any goroutine may
// call Done and Resent at any time, also for messages of an earlier trial.
type client struct {
	worker     *Worker
	index      int // with 3 clients, client 1 has the producers 1, 4, 7 and so on of the plan
	streams    []stream
	conn       driver.Producer  // to the library
	freeSlots  *slotRing        // hands out the slots by their numbers
	slots      []slot           // by slot number
	besides    []beside         // by slot number; nil: messages carry no headers
	batch      []driver.Message // handed over by the next Send
	batchSlots []uint32         // the slots that were taken for the batch
	objections objections       // the broker's objections to this client's messages

	// Of the current trial.
	segments []*segment // what this client sends
	ownLag   ownLag
	waited   int64 // ns for which messages that were ready have waited for slots since the last Send
	// activity counts what the client does. Each trial has its own, so a Done that is still under way when the next trial begins
	// writes to the old one.
	activity atomic.Pointer[activity]
}

// stream is the messages of one producer of the plan.
type stream struct {
	producer Producer          // of the plan
	seq      uint64            // number of the next message; continues across trials
	recorder *measure.Producer // of the current trial; nil until its first message
	work     work              // of the current trial
}

// slot is one message in flight. The sending goroutine writes the fields before Send, and Done reads them. No lock is needed: the
// driver passes the slot on from one to the other, and that orders the two.
type slot struct {
	payload        []byte            // a part of the slot's buffer, which has room for the largest body
	recorder       *measure.Producer // where the message is booked; nil for a probe, which is not counted
	seq            uint64
	intended, sent int64  // ns on the clock's axis
	body           int    // index of the body that the payload holds
	bodySum        uint64 // of that body, for wire.Stamp
	phase          measure.Phase
}

// beside is what a message carries beside its payload: stamp and headers.
type beside struct {
	stamp  []byte         // of untouched payloads
	values driver.Headers // as driver.Message has them
}

// setBody copies a body into the slot's buffer.
func (s *slot) setBody(b *bodies, body int) {
	content := b.all[body].content
	s.payload = s.payload[:len(content)]
	copy(s.payload, content)
	s.body, s.bodySum = body, b.all[body].bodySum
}

// newClient connects client index of the plan.
func newClient(ctx context.Context, w *Worker, index int) (*client, error) {
	c := &client{worker: w, index: index, streams: w.plan.streamsOf(index)}
	c.activity.Store(new(activity))
	fitting := w.plan.Bytes / w.bodies.largest // largest is above 0, since no body is empty
	inFlight := len(c.streams) * max(1, min(w.plan.InFlight, fitting))
	c.allocateSlots(inFlight)
	var err error
	busiest.Do(ctx, c.name(), func(ctx context.Context) {
		c.conn, err = w.driver.Producer(ctx, driver.ProducerConfig{
			ID: c.firstProducer(), Topics: topicsOf(c.streams), InFlight: inFlight,
			MaxBytes: w.bodies.largest + w.plan.HeaderSize(), Headers: w.plan.headers().names(),
		}, c)
	})
	if err != nil {
		return nil, fmt.Errorf("producer %d: %w", c.firstProducer(), err)
	}
	return c, nil
}

// name names the client for busiest.Do.
func (c *client) name() string { return fmt.Sprintf("producer %d", c.firstProducer()) }

// firstProducer returns the ID of the first of the client's producers. Errors name the client by it.
func (c *client) firstProducer() int { return c.streams[0].producer.ID }

// streamsOf lists the streams of one client: at least one, since there are no more clients than producers.
func (p *Plan) streamsOf(client int) []stream {
	var streams []stream
	for i := client; i < len(p.Producers); i += p.clients() {
		streams = append(streams, stream{producer: p.Producers[i]})
	}
	return streams
}

// topicsOf lists the topics of streams, each once.
func topicsOf(streams []stream) []int {
	var topics []int
	for _, s := range streams {
		if !slices.Contains(topics, s.producer.Topic) {
			topics = append(topics, s.producer.Topic)
		}
	}
	return topics
}

// allocateSlots makes n slots with buffers for the largest body, and the batch that they are sent in.
func (c *client) allocateSlots(n int) {
	b := c.worker.bodies
	c.freeSlots, c.slots = newSlotRing(n), make([]slot, n)
	buffers := make([]byte, n*b.largest)
	if headers := c.worker.plan.headers(); headers.any() {
		c.besides = make([]beside, n)
		for i := range c.besides {
			c.besides[i] = beside{b.newStamp(), headers.values()}
		}
	}
	for i := range c.slots {
		s := &c.slots[i]
		s.payload = buffers[i*b.largest:][:b.largest:b.largest]
		s.setBody(b, i%len(b.all))
	}
	c.batch = make([]driver.Message, min(n, maxBatch))
	c.batchSlots = make([]uint32, len(c.batch))
}

// begin makes the client ready for trial t and forgets the one before.
func (c *client) begin(t *trial) {
	c.ownLag, c.segments, c.waited = ownLag{}, nil, 0
	c.activity.Store(&activity{trial: t.recording.books})
	c.objections.begin()
	for i := range c.streams {
		s := &c.streams[i]
		s.recorder, s.work = nil, work{}
		t.recording.books.SetBase(s.producer.ID, s.seq)
	}
}

// recorderOf returns the recorder that books what s sends in this trial. All streams of a client record in the same counters.
func (c *client) recorderOf(t *trial, s *stream) *measure.Producer {
	if s.recorder == nil {
		s.recorder = t.recording.books.ProducerOn(s.producer.ID, c.index)
	}
	return s.recorder
}

// stamp is the number and the times of a message. For example, a message was due at 5.000 s and is stamped at 5.003 s. The client
// was busy until 5.002 s. So intended is 5.000 s, sent is 5.003 s, and own is 1 ms.
type stamp struct {
	seq            uint64
	intended, sent int64 // when it was due and when it is stamped, ns on the clock's axis
	own            int64 // how much of the time in between the generator itself caused (ownLag), ns
}

// fillSlot makes the next message of a stream in a slot, and puts it at position i of the batch. The recorder books it as sent; a
// probe, which is not counted, has none.
func (c *client) fillSlot(i int, slot uint32, from *stream, m stamp, recorder *measure.Producer) {
	s := &c.slots[slot]
	if b := c.worker.bodies; !b.sameSize() {
		if body := b.pick(from.producer.ID, m.seq); body != s.body {
			s.setBody(b, body)
		}
	}
	payload, d := s.payload, &c.batch[i]
	id := wire.MakeID(uint32(from.producer.ID), m.seq)
	if c.worker.bodies.untouched {
		wire.Stamp(c.besides[slot].stamp, id, m.intended, m.sent, s.bodySum)
		wire.PutText(c.besides[slot].values[0], c.besides[slot].stamp)
	} else {
		inBody, _ := wire.Split(payload)
		wire.Stamp(inBody, id, m.intended, m.sent, s.bodySum)
	}
	s.seq, s.intended, s.sent, s.recorder = m.seq, m.intended, m.sent, recorder
	if recorder != nil {
		s.phase = recorder.Sent(m.seq, len(payload), m.intended, m.sent, m.own)
	}
	d.Slot, d.Topic, d.Payload = slot, from.producer.Topic, payload
	if c.besides != nil {
		d.Headers = &c.besides[slot].values
	}
	if k := c.worker.keys; k != nil {
		d.Key = k.text[k.of(from.producer.ID, m.seq)]
	}
}

// sendBackoff is the pause after a Send that failed, so that a restarting broker is not flooded.
const sendBackoff = 5 * time.Millisecond

// send hands over the first n messages of the batch. It returns the time in which the client could not go on: that of Send and,
// if Send failed, of the pause after it. Only the first counts as sending. The slots of a Send that failed come back through
// Done.
func (c *client) send(ctx context.Context, t *trial, n int) hold {
	a := c.activity.Load()
	h := beginHold(t.recording.watch)
	if a.firstSend == 0 {
		a.firstSend = h.began
	}
	a.lastSend = h.began
	var paused int64
	if err := c.conn.Send(ctx, c.batch[:n]); err != nil {
		a.noteSendFailure(ctx, err)
		failed := clock.Now()
		time.Sleep(sendBackoff)
		paused = clock.Now() - failed
	}
	h.end(t.recording.watch)
	a.sending += h.ns() - paused
	return h
}

// awaitSlots blocks until an eighth of the window is free or the trial stops. If it waited for one slot only, each batch of a
// full window would have one message. It returns the time in which it waited.
func (c *client) awaitSlots(t *trial) hold {
	h := beginHold(t.recording.watch)
	window := len(c.slots)
	if w := t.load.Window; w > 0 {
		window = min(window, w)
	}
	c.freeSlots.wait(min(len(c.batch), max(1, window/8)), t.stop)
	h.end(t.recording.watch)
	c.activity.Load().blocked += h.ns()
	return h
}

// bookUnresolved books the messages of this trial that are still in flight. Call it when the sending goroutine has ended. A Done
// that comes later changes nothing, because the outcome has been read by then.
func (c *client) bookUnresolved(t *trial) {
	for _, id := range c.freeSlots.inFlight() {
		if s := &c.slots[id]; s.recorder != nil && s.recorder.RecordsFor(t.recording.books) {
			s.recorder.Unresolved(s.seq)
		}
	}
}
