package measure

// Producer records the messages of one producer. Sent and Commit belong to the goroutine that sends; the other methods may be called
// from any goroutine.
type Producer struct {
	trial    *Trial
	stream   *stream
	counters *counters

	// The batch since the last Commit.
	sent, bytes  Tally
	end          uint64      // one past its last message
	lag          phasedBatch // sent − intended
	generatorLag phasedBatch // the part of the lag that the generator caused
}

// Producer returns the recorder of producer i.
func (t *Trial) Producer(i int) *Producer { return t.ProducerOn(i, i) }

// ProducerOn returns the recorder of producer i, which shares a client with others. Producers of the same client share their counters, so
// that one Acks can gather the acknowledgements of all of them.
func (t *Trial) ProducerOn(i, client int) *Producer {
	s := &t.streams[i]
	return &Producer{trial: t, stream: s, counters: t.countersOf(client), end: s.end.Load()}
}

// RecordsFor reports whether p records for t.
func (p *Producer) RecordsFor(t *Trial) bool { return p.trial == t }

// Sent books message seq of size bytes, before its batch is handed to the client, and returns its phase. The message was due at
// intended and stamped at sent, ns on the clock's axis; the generator itself caused generatorLag ns of the delay in between. Sequence
// numbers must be consecutive, and intended times must not fall: the measured phase is all messages from one number on.
func (p *Producer) Sent(seq uint64, size int, intended, sent, generatorLag int64) Phase {
	n := seq - p.stream.base
	phase := p.trial.phase(intended)
	if phase == Measured && n < p.stream.measured.Load() {
		p.stream.measured.Store(n)
	}
	if p.stream.times != nil {
		p.stream.times.put(n, intended, sent)
	}
	p.counters.lag.add(&p.lag, phase, sent-intended)
	p.counters.generatorLag.add(&p.generatorLag, phase, generatorLag)
	p.end = n + 1
	p.sent[phase]++
	p.bytes[phase] += int64(size)
	return phase
}

// Commit publishes the batch booked by Sent. Call it before the client gets the batch; otherwise a fast consumer would receive messages
// that don't count as sent yet.
func (p *Producer) Commit() {
	p.stream.end.Store(p.end)
	p.counters.sent.add(p.sent)
	p.counters.bytes.add(p.bytes)
	p.counters.lag.flush(&p.lag)
	p.counters.generatorLag.flush(&p.generatorLag)
	p.sent, p.bytes = Tally{}, Tally{}
}

// Unsent books n messages that were due at intended, or a little before, and had not been handed to the client when sending ended, at
// end. Each counts with a censored latency, end − intended, as a publish and for every subscription, because it would have taken at least
// that long: if 3 messages were due at 100 and sending ended at 500, with 400 ns each. The generator caused generatorLag ns of the wait. Call it
// when sending has ended.
func (p *Producer) Unsent(phase Phase, n, intended, end, generatorLag int64) {
	c := p.counters
	c.unsent[phase].Add(n)
	c.lag[phase].RecordCensored(end-intended, n)
	c.publish[phase].RecordCensored(end-intended, n)
	lagging := p.stream.lagging()
	if tailing := int64(p.trial.subscriptions) - lagging; tailing > 0 {
		c.endToEnd[phase].RecordCensored(end-intended, n*tailing)
	}
	if lagging > 0 {
		c.endToEndLagging[phase].RecordCensored(end-intended, n*lagging)
	}
	c.generatorLag[phase].RecordN(generatorLag, n)
}

// UnsentUntimed books n messages that were never sent and have not waited: they were not due yet or, as in a closed loop, had no intended
// time.
func (p *Producer) UnsentUntimed(phase Phase, n int64) { p.counters.unsent[phase].Add(n) }

// Acks gathers acknowledgements and failures that arrive together:
//
//	var acks Acks
//	for … { p.Acked(&acks, …) }
//	p.Confirm(&acks) // publishes them
//
// Its zero value is empty. It belongs to one goroutine.
type Acks struct {
	acked, failed Tally
	publish       phasedBatch // acknowledged − intended
	service       phasedBatch // acknowledged − sent
}

// Acked books a message that was confirmed at now; with at most once, that was handed over then.
func (p *Producer) Acked(a *Acks, phase Phase, intended, sent, now int64) {
	p.counters.publish.add(&a.publish, phase, now-intended)
	p.counters.service.add(&a.service, phase, now-sent)
	a.acked[phase]++
}

// Failed books a message that the client reported as failed. Sent must have booked it.
func (p *Producer) Failed(a *Acks, phase Phase, seq uint64) {
	p.stream.unconfirmed.add(seq - p.stream.base)
	a.failed[phase]++
}

// Confirm publishes the outcomes that a has gathered from p and from other producers of the same client, and empties a.
func (p *Producer) Confirm(a *Acks) {
	p.counters.publish.flush(&a.publish)
	p.counters.service.flush(&a.service)
	p.counters.acked.add(a.acked)
	p.counters.failed.add(a.failed)
	a.acked, a.failed = Tally{}, Tally{}
}

// Resent books that a message was sent once more. Its outcome is still open, and it keeps the times of its first attempt.
func (p *Producer) Resent(phase Phase) { p.counters.resent[phase].Add(1) }

// Unresolved books a message that was neither confirmed nor refused when the trial ended.
func (p *Producer) Unresolved(seq uint64) { p.stream.unconfirmed.add(seq - p.stream.base) }
