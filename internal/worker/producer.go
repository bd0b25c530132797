package worker

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// maxBatch bounds how many messages one Send carries.
const maxBatch = 512

// producer is one client connection that sends: a driver.Producer with its slots and their payload
// buffers. It sends for one producer of the plan, or for several that share a client. A message takes
// a free slot, is stamped and booked (fillSlot), waits in the batch and is handed to the client (send).
// The client completes its slot later (Done). Per message, nothing allocates memory or takes a lock.
//
// The goroutine that sends a trial and the one that probes use a producer one after the other, never
// at once. Any goroutine may call Done and Resent at any time, also for messages of an earlier trial.
type producer struct {
	index      int // of this client: it has the producers index, index + number of clients, and so on, of the plan
	streams    []stream
	worker     *Worker
	client     driver.Producer
	freeSlots  *slotRing
	slots      []slot           // by slot number
	batch      []driver.Message // handed over by the next Send
	batchSlots []uint32         // the slots that were taken for the batch

	// Of the current trial.
	segments []*segment // what this client sends
	ownLag   ownLag
	// activity is what the client did. Each trial has one of its own, so a Done that is still under way
	// when the next trial begins writes to the old one.
	activity atomic.Pointer[activity]
}

// stream is what one producer of the plan sends.
type stream struct {
	producer Producer          // of the plan
	seq      uint64            // number of the next message; continues across trials
	recorder *measure.Producer // of the current trial; nil until its first message
}

// slot is one message in flight. Its owner writes the fields before Send, the client reads them at
// Done. No lock is needed: the driver hands the slot from one to the other, and that orders the two.
type slot struct {
	payload        []byte            // a part of the slot's buffer, which has room for the largest body
	recorder       *measure.Producer // where the message is booked; nil for a probe, which is not counted
	seq            uint64
	intended, sent int64  // ns on the clock's axis
	body           int    // index of the body that the payload holds
	sum            uint64 // checksum of that body
	phase          measure.Phase
}

// setBody copies a body into the slot's buffer.
func (s *slot) setBody(b *bodies, body int) {
	content := b.all[body].content
	s.payload = s.payload[:len(content)]
	copy(s.payload, content)
	s.body, s.sum = body, b.all[body].checksum
}

// newProducer connects client index of the plan.
func newProducer(ctx context.Context, w *Worker, index int) (*producer, error) {
	p := &producer{index: index, worker: w, streams: w.plan.streamsOf(index)}
	p.activity.Store(new(activity))
	inFlight := len(p.streams) * max(1, min(w.plan.InFlight, w.plan.Bytes/w.bodies.largest)) // no body is empty
	p.allocateSlots(inFlight)
	client, err := w.driver.Producer(ctx, driver.ProducerConfig{
		ID: p.streams[0].producer.ID, Topics: topicsOf(p.streams), InFlight: inFlight, MaxBytes: w.bodies.largest,
	}, p)
	if err != nil {
		return nil, fmt.Errorf("producer %d: %w", p.streams[0].producer.ID, err)
	}
	p.client = client
	return p, nil
}

// streamsOf lists the streams of one client: at least one, since there are no more clients than
// producers.
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
func (p *producer) allocateSlots(n int) {
	b := p.worker.bodies
	p.freeSlots, p.slots = newSlotRing(n), make([]slot, n)
	buffers := make([]byte, n*b.largest)
	for i := range p.slots {
		s := &p.slots[i]
		s.payload = buffers[i*b.largest:][:b.largest:b.largest]
		s.setBody(b, i%len(b.all))
	}
	p.batch = make([]driver.Message, min(n, maxBatch))
	p.batchSlots = make([]uint32, len(p.batch))
}

// begin makes the producer ready for trial t and forgets the one before.
func (p *producer) begin(t *trial) {
	p.ownLag, p.segments = ownLag{}, nil
	p.activity.Store(&activity{trial: t.recording.books})
	for i := range p.streams {
		s := &p.streams[i]
		s.recorder = nil
		t.recording.books.SetBase(s.producer.ID, s.seq)
	}
}

// recorderOf returns the recorder that books what s sends in this trial. All streams of a client share
// the client's counters.
func (p *producer) recorderOf(t *trial, s *stream) *measure.Producer {
	if s.recorder == nil {
		s.recorder = t.recording.books.ProducerOn(s.producer.ID, p.index)
	}
	return s.recorder
}

// stamp is the number and the times of a message.
type stamp struct {
	seq            uint64
	intended, sent int64 // when it was due and when it is stamped, ns on the clock's axis
	own            int64 // how much of the time in between the generator itself caused (ownLag), ns
}

// fillSlot makes a message of a stream in slot id and puts it at position i of the batch. A nil
// recorder marks a probe, which is not counted.
func (p *producer) fillSlot(i int, id uint32, from *stream, m stamp, recorder *measure.Producer) {
	s := &p.slots[id]
	if b := p.worker.bodies; !b.sameSize() {
		if body := b.pick(from.producer.ID, m.seq); body != s.body {
			s.setBody(b, body)
		}
	}
	payload := s.payload
	wire.Stamp(payload, wire.MakeID(uint32(from.producer.ID), m.seq), m.intended, m.sent, s.sum)
	s.seq, s.intended, s.sent, s.recorder = m.seq, m.intended, m.sent, recorder
	if recorder != nil {
		s.phase = recorder.Sent(m.seq, len(payload), m.intended, m.sent, m.own)
	}
	d := &p.batch[i]
	d.Slot, d.Topic, d.Payload = id, from.producer.Topic, payload
	if k := p.worker.keys; k != nil {
		d.Key = k.text[k.of(from.producer.ID, m.seq)]
	}
}

// sendBackoff is the pause after a Send that failed, so that a broker that is being restarted is not
// hammered meanwhile.
const sendBackoff = 5 * time.Millisecond

// send hands over the first n messages of the batch and returns the time until the producer may go on:
// the client's Send and, if that failed, the pause after it. Only the first counts as sending. The
// slots of a Send that failed come back through Done.
func (p *producer) send(ctx context.Context, t *trial, n int) hold {
	a := p.activity.Load()
	h := beginHold(t.recording.watch)
	if a.firstSend == 0 {
		a.firstSend = h.began
	}
	a.lastSend = h.began
	var paused int64
	if err := p.client.Send(ctx, p.batch[:n]); err != nil {
		a.noteSendFailure(ctx, err)
		failed := clock.Now()
		time.Sleep(sendBackoff)
		paused = clock.Now() - failed
	}
	h.end(t.recording.watch)
	a.sending += h.ns() - paused
	return h
}

// awaitSlots blocks until slots are free or the trial stops. It asks for an eighth of the window at
// once, because a full window would degenerate into batches of one. It returns the time in which it
// waited.
func (p *producer) awaitSlots(t *trial) hold {
	h := beginHold(t.recording.watch)
	window := len(p.slots)
	if w := t.load.Window; w > 0 {
		window = min(window, w)
	}
	p.freeSlots.wait(min(len(p.batch), max(1, window/8)), t.stop)
	h.end(t.recording.watch)
	p.activity.Load().blocked += h.ns()
	return h
}

// bookUnresolved books the messages of this trial that are still in flight. Call it when the sending
// goroutine has ended. A Done that comes later finds closed books; the outcome has been read by then.
func (p *producer) bookUnresolved(t *trial) {
	for _, id := range p.freeSlots.inFlight() {
		if s := &p.slots[id]; s.recorder != nil && s.recorder.RecordsFor(t.recording.books) {
			s.recorder.Unresolved(s.seq)
		}
	}
}
