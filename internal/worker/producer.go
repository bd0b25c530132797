package worker

import (
	"context"
	"errors"
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

// producer owns one driver.Producer, its slots and their payload buffers, for one producer of the plan or for several
// that share a client. The sending goroutine and probe use it one after the other; Done comes from anywhere.
type producer struct {
	index   int // among the clients of producers
	streams []stream
	turn    int // closed loop: index of the stream that sends next
	worker  *Worker
	client  driver.Producer
	slots   *slots
	table   []slot
	batch   []driver.Message
	taken   []uint32

	sending, blocked atomic.Int64 // ns, this trial
	first, last      atomic.Int64 // times of the first and last Send of this trial
	lastAck          atomic.Int64
	blame            blame
	legs             []*leg                // of this trial
	failure          atomic.Pointer[error] // why a message failed, or a Send
}

// stream is what one producer of the plan sends.
type stream struct {
	plan     Producer
	seq      uint64            // number of the next message; continues across trials
	recorder *measure.Producer // of this trial; made with its first message
}

// slot is one message in flight. Its owner writes the fields before Send, the client reads them at Done: handing the
// slot over orders the two.
type slot struct {
	payload        []byte // a buffer with room for the largest body, as long as the one it holds
	recorder       *measure.Producer
	seq            uint64
	intended, sent int64
	body           int    // which body the buffer holds
	sum            uint64 // of that body
	phase          measure.Phase
}

func (s *slot) fill(b *bodies, body int) {
	s.payload = s.payload[:len(b.all[body])]
	copy(s.payload, b.all[body])
	s.body, s.sum = body, b.sums[body]
}

// newProducer connects client i of the producers.
func newProducer(ctx context.Context, w *Worker, i int) (*producer, error) {
	p := &producer{index: i, worker: w}
	var topics []int
	for k := i; k < len(w.plan.Producers); k += w.plan.clients() {
		plan := w.plan.Producers[k]
		p.streams = append(p.streams, stream{plan: plan})
		if !slices.Contains(topics, plan.Topic) {
			topics = append(topics, plan.Topic)
		}
	}
	n := len(p.streams) * max(1, min(w.plan.InFlight, w.plan.Bytes/w.bodies.size))
	p.slots, p.table = newSlots(n), make([]slot, n)
	buffers := make([]byte, n*w.bodies.size)
	for i := range p.table {
		s := &p.table[i]
		s.payload = buffers[i*w.bodies.size:][:w.bodies.size:w.bodies.size]
		s.fill(w.bodies, i%len(w.bodies.all))
	}
	p.batch = make([]driver.Message, min(n, maxBatch))
	p.taken = make([]uint32, len(p.batch))
	var err error
	p.client, err = w.driver.Producer(ctx, driver.ProducerConfig{
		ID: p.streams[0].plan.ID, Topics: topics, InFlight: n, MaxBytes: w.bodies.size,
	}, p)
	return p, err
}

// begin forgets the trial before t.
func (p *producer) begin(t *trial) {
	p.blame, p.legs = blame{}, nil
	for i := range p.streams {
		s := &p.streams[i]
		s.recorder = nil
		t.measure.Base(s.plan.ID, s.seq)
	}
	for _, v := range []*atomic.Int64{&p.sending, &p.blocked, &p.first, &p.last, &p.lastAck} {
		v.Store(0)
	}
	p.failure.Store(nil)
}

// addTo adds what the producer did in a trial to its outcome.
func (p *producer) addTo(out *Outcome) {
	if err := p.failure.Load(); err != nil {
		out.SendErr = *err
	}
	out.Blocked += time.Duration(p.blocked.Load())
	out.Sending += time.Duration(p.sending.Load())
	out.LastSent = max(out.LastSent, p.last.Load())
	out.LastAcked = max(out.LastAcked, p.lastAck.Load())
	if first := p.first.Load(); first != 0 && (out.FirstSent == 0 || first < out.FirstSent) {
		out.FirstSent = first
	}
}

// recorderOf is where s books what it sends in this trial. All streams of a client have the lane of the client.
func (p *producer) recorderOf(t *trial, s *stream) *measure.Producer {
	if s.recorder == nil {
		s.recorder = t.measure.ProducerOn(s.plan.ID, p.index)
	}
	return s.recorder
}

// stamp is the identity and the times of a message, ns on the clock's axis: when it was due, when it was stamped, and
// how much of the time in between was the generator's own doing.
type stamp struct {
	seq                 uint64
	intended, sent, own int64
}

// prepare writes message i of the batch, one of from, into slot id. recorder is nil for probes.
func (p *producer) prepare(i int, id uint32, from *stream, m stamp, recorder *measure.Producer) {
	s := &p.table[id]
	if b := p.worker.bodies; !b.uniform {
		if body := b.pick(from.plan.ID, m.seq); body != s.body {
			s.fill(b, body)
		}
	}
	payload := s.payload
	wire.Stamp(payload, wire.MakeID(uint32(from.plan.ID), m.seq), m.intended, m.sent, s.sum)
	s.seq, s.intended, s.sent, s.recorder = m.seq, m.intended, m.sent, recorder
	if recorder != nil {
		s.phase = recorder.Sent(m.seq, len(payload), m.intended, m.sent, m.own)
	}
	d := &p.batch[i]
	d.Slot, d.Topic, d.Payload = id, from.plan.Topic, payload
	if k := p.worker.keys; k != nil {
		d.Key = k.text[k.of(from.plan.ID, m.seq)]
	}
}

// Done completes slots; see driver.Receipts.
func (p *producer) Done(ids []uint32, err error) {
	now := clock.Now()
	var acks measure.Acks
	var recorder *measure.Producer
	for _, id := range ids {
		s := &p.table[id]
		if s.recorder == nil { // a probe
			continue
		}
		if recorder != nil && !recorder.Beside(s.recorder) {
			recorder.Confirm(&acks)
		}
		recorder = s.recorder
		if err != nil {
			recorder.Failed(&acks, s.phase, s.seq)
		} else {
			recorder.Acked(&acks, s.phase, s.intended, s.sent, now)
		}
	}
	switch {
	case recorder == nil:
	case err != nil:
		p.keepFirstFailure(err)
	default:
		p.lastAck.Store(now)
	}
	// Freed first: a slot whose message is already counted must not be found in flight when the trial ends.
	p.slots.put(ids)
	if recorder != nil {
		recorder.Confirm(&acks)
	}
}

// keepFirstFailure keeps why messages failed: the first reason, since the last may only be that the producer was closed.
func (p *producer) keepFirstFailure(err error) {
	if p.failure.Load() == nil {
		p.failure.CompareAndSwap(nil, &err)
	}
}

// sendFailed keeps why a Send failed. One that was cut off makes its messages fail by the context's error, often before
// Send returns; why it was cut off says more than that.
func (p *producer) sendFailed(ctx context.Context, err error) {
	cause := context.Cause(ctx)
	if cause == nil {
		p.keepFirstFailure(err)
		return
	}
	if kept := p.failure.Load(); kept == nil || errors.Is(*kept, ctx.Err()) {
		p.failure.CompareAndSwap(kept, &cause)
	}
}

// Resent implements driver.Resends.
func (p *producer) Resent(ids []uint32) {
	for _, id := range ids {
		if s := &p.table[id]; s.recorder != nil {
			s.recorder.Resent(s.phase)
		}
	}
}

// sendBackoff is the pause after a Send that failed.
const sendBackoff = 5 * time.Millisecond

// send hands over the first n messages of the batch and returns the time until the producer may go on: that of the client's
// Send and, where that failed, of the pause after it.
func (p *producer) send(ctx context.Context, t *trial, n int) hold {
	h := beginHold(t.watch)
	if p.first.Load() == 0 {
		p.first.Store(h.began)
	}
	if err := p.client.Send(ctx, p.batch[:n]); err != nil {
		// The slots come back as failed; a broker that is being restarted must not be hammered meanwhile.
		kept := err // a copy: taking the address of err itself would allocate it for every batch
		p.sendFailed(ctx, kept)
		time.Sleep(sendBackoff)
	}
	p.last.Store(h.began)
	h.end(t.watch)
	p.sending.Add(h.ns())
	return h
}

// await waits for free slots. It asks for an eighth of the window at once, lest a full window degenerate into
// batches of one. It returns the time in which it waited and whether the trial goes on.
func (p *producer) await(t *trial) (h hold, ok bool) {
	h = beginHold(t.watch)
	window := len(p.table)
	if w := t.load.Window; w > 0 {
		window = min(window, w)
	}
	ok = p.slots.wait(min(len(p.batch), max(1, window/8)), t.stop)
	h.end(t.watch)
	p.blocked.Add(h.ns())
	return h, ok
}

// bookUnresolved books the messages of this trial that are still in flight. The sending goroutine must have ended; a Done
// that still comes finds closed books and changes nothing.
func (p *producer) bookUnresolved(t *trial) {
	for _, id := range p.slots.taken() {
		if s := &p.table[id]; s.recorder != nil && s.recorder.Of(t.measure) {
			s.recorder.Unresolved(s.seq)
		}
	}
}
