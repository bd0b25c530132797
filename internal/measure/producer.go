package measure

import "github.com/brokermark/brokermark/internal/hist"

// Producer records what one producer does. Sent and Commit belong to the goroutine that sends; the others may be
// called from any goroutine.
type Producer struct {
	trial  *Trial
	stream *stream
	lane   *lane

	// The batch being stamped, until Commit publishes it.
	sent, bytes Tally
	end         uint64             // one past the last message, counted from the stream's base
	lag         [phases]hist.Batch // sent − intended
	own         [phases]hist.Batch // the part of the lag that the generator caused
}

// Tally counts per phase.
type Tally [phases]int64

// Producer returns the recorder of producer i.
func (t *Trial) Producer(i int) *Producer { return t.ProducerOn(i, i) }

// ProducerOn is Producer for one of several producers that share a client. Producers of one client use the same lane, which is
// the number of the client. One Acks may gather the acknowledgements of all of them.
func (t *Trial) ProducerOn(i, lane int) *Producer {
	return &Producer{trial: t, stream: &t.streams[i], lane: t.lane(lane)}
}

// Of reports whether p records for t.
func (p *Producer) Of(t *Trial) bool { return p.trial == t }

// Sent books message seq of size bytes, due at intended and stamped at sent, before its batch is handed to the
// client. own is the part of the delay in between that the generator itself caused. Times are ns, the first two on the
// clock's axis.
func (p *Producer) Sent(seq uint64, size int, intended, sent, own int64) Phase {
	n := seq - p.stream.base
	phase := Warmup
	if intended >= p.trial.from.Load() {
		phase = Measured
		if n < p.stream.measured.Load() {
			p.stream.measured.Store(n)
		}
	}
	if p.stream.times != nil {
		p.stream.times.put(n, intended, sent)
	}
	p.lane.lag[phase].Add(&p.lag[phase], sent-intended)
	p.lane.generatorLag[phase].Add(&p.own[phase], own)
	p.end = n + 1
	p.sent[phase]++
	p.bytes[phase] += int64(size)
	return phase
}

// Commit publishes the batch booked by Sent; call it before handing the batch to the client, or a fast consumer
// would see messages that were never sent.
func (p *Producer) Commit() {
	p.stream.end.Store(p.end)
	for phase := range phases {
		if p.sent[phase] > 0 {
			p.lane.sent[phase].Add(p.sent[phase])
			p.lane.sentBytes[phase].Add(p.bytes[phase])
			p.lane.lag[phase].Flush(&p.lag[phase])
			p.lane.generatorLag[phase].Flush(&p.own[phase])
		}
	}
	p.sent, p.bytes = Tally{}, Tally{}
}

// Unsent books n messages that were due at intended, or a little before, and were never handed to the client. Sending ended
// at end. Each message counts with the latency end − intended, as a publish and for every subscription, since it would have
// taken at least that long. own is the part of the wait that the generator caused. Call it when sending has ended.
func (p *Producer) Unsent(phase Phase, n, intended, end, own int64) {
	l := p.lane
	l.unsent[phase].Add(n)
	l.lag[phase].RecordN(end-intended, n)
	l.publish[phase].RecordN(end-intended, n)
	l.endToEnd[phase].RecordN(end-intended, n*int64(p.trial.subscriptions))
	l.generatorLag[phase].RecordN(own, n)
}

// UnsentUntimed books n messages that were asked for without a time, as in a closed loop, and never sent.
func (p *Producer) UnsentUntimed(phase Phase, n int64) { p.lane.unsent[phase].Add(n) }

// Acks gathers acknowledgements and failures that arrive together, until Producer.Confirm publishes them. Its zero value is
// empty. It belongs to one goroutine.
type Acks struct {
	n, failed        [phases]int64
	publish, service [phases]hist.Batch
}

// Acked books a message confirmed (or, at most once, handed over) at now.
func (p *Producer) Acked(a *Acks, phase Phase, intended, sent, now int64) {
	p.lane.publish[phase].Add(&a.publish[phase], now-intended)
	p.lane.service[phase].Add(&a.service[phase], now-sent)
	a.n[phase]++
}

// Confirm publishes what a has gathered from p, and from other producers of the same lane, and empties it.
func (p *Producer) Confirm(a *Acks) {
	for phase := range phases {
		if a.n[phase] > 0 {
			p.lane.publish[phase].Flush(&a.publish[phase])
			p.lane.service[phase].Flush(&a.service[phase])
			p.lane.acked[phase].Add(a.n[phase])
			a.n[phase] = 0
		}
		if a.failed[phase] > 0 {
			p.lane.failed[phase].Add(a.failed[phase])
			a.failed[phase] = 0
		}
	}
}

// Failed books a message that the client reported as failed.
func (p *Producer) Failed(a *Acks, phase Phase, seq uint64) {
	p.stream.unconfirmed.add(seq - p.stream.base)
	a.failed[phase]++
}

// Resent books that a message was sent once more. Its outcome is still open, and its times are those of the first attempt.
func (p *Producer) Resent(phase Phase) { p.lane.resent[phase].Add(1) }

// Unresolved books a message that was neither confirmed nor refused when the trial ended.
func (p *Producer) Unresolved(seq uint64) { p.stream.unconfirmed.add(seq - p.stream.base) }
