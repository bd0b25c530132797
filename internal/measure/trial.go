// Package measure turns the events of a trial (sent, acknowledged, received) into counts, histograms and a ledger of each stream.
// Recording takes no lock and allocates nothing, except when a bitmap of a stream grows by a page. It knows nothing of brokers, of pacing,
// or of what the numbers are used for.
//
// A Producer and a Consumer record the events; afterwards Books has the counts:
//
//	t := measure.NewTrial(measure.Shape{Producers: 1, Consumers: 1, Subscriptions: 1})
//	t.MeasureFrom(start)
//	p, c := t.Producer(0), t.Consumer(0, 0, nil)
//	p.Sent(0, size, due, now, 0) // message 0, then message 1
//	p.Sent(1, size, due, now, 0)
//	p.Commit()                   // before the client gets them
//	c.Received(header, now)      // message 1
//	c.Commit()
//	t.Books(measure.Measured)    // Sent 2, both Unresolved: no outcome was booked; Expected 2, Received 1, Lost 1: message 0
package measure

import (
	"math"
	"sync/atomic"
)

// Phase is the part of a trial that a message belongs to, by its intended time. Nothing is reset between phases.
type Phase int

// The phases in which messages are sent.
const (
	Warmup Phase = iota
	Measured
	phases // the number of phases
)

// phaseOf returns the phase of a time or a number at, if the measured phase begins with from.
func phaseOf[T int64 | uint64](at, from T) Phase {
	if at >= from {
		return Measured
	}
	return Warmup
}

// Trial records one trial. Producers, consumers and subscriptions are numbered from 0; each subscription receives the messages of
// every producer.
type Trial struct {
	streams       []stream // by producer
	subscriptions int
	measuredFrom  atomic.Int64 // ns on the clock's axis; Undecided at first
	counters      []counters   // what the trial counted is their sum
	apart         bool         // the producers run in another process
	scheduled     bool         // SetDue was called
	due           Tally        // if scheduled
	unordered     int          // of a joined trial: how many ledgers' order is not known; see Unordered
}

// Undecided is the beginning of the measured phase while it is not known: later than every time.
const Undecided = math.MaxInt64

// stream is all messages that one producer sends in a trial. They are numbered from 0; the numbers in their payloads count on from the
// trial before and begin with base.
type stream struct {
	base        uint64
	end         atomic.Uint64 // how many messages were sent, so also the number of the next one; stays 0 if they are sent elsewhere
	measured    atomic.Uint64 // number of the first message of the measured phase; math.MaxUint64 if there is none
	unconfirmed bitmap        // messages that failed, or were unresolved when the trial ended
	ledgers     []ledger      // by subscription
	times       *timeTable    // nil if payloads carry their times
	host        *Host         // the producer's host; nil: this one
}

// Shape describes the producers and consumers of a trial.
type Shape struct {
	Producers     int
	Consumers     int
	Subscriptions int
	Keys          int  // distinct keys, if order is promised per key; 0: it is promised per stream
	ShortPayload  bool // payloads are too short to carry their times
	Outstanding   int  // messages of a producer whose times are kept, at least, if payloads are short
	// Apart is set if the producers run in another process. Payloads must carry their times. Every number counts as sent: the
	// process of the producers checks that when it takes over the accounts (Trial.Enter).
	Apart bool
}

// NewTrial makes an empty trial. Every message counts as warm-up until MeasureFrom is called.
func NewTrial(s Shape) *Trial {
	t := &Trial{
		streams: make([]stream, s.Producers), subscriptions: s.Subscriptions, apart: s.Apart,
		counters: make([]counters, max(1, min(maxCounters, max(s.Producers, s.Consumers)))),
	}
	t.measuredFrom.Store(Undecided)
	for i := range t.streams {
		st := &t.streams[i]
		st.measured.Store(math.MaxUint64)
		st.ledgers = newLedgers(s.Subscriptions, s.Keys)
		if s.ShortPayload {
			st.times = newTimeTable(s.Outstanding, s.Producers)
		}
	}
	return t
}

// SetBase sets the sequence number of a producer's first message in this trial, which is 0 otherwise. Call it before the producer's
// first message.
func (t *Trial) SetBase(producer int, seq uint64) { t.streams[producer].base = seq }

// SetLagging has the consumers of a subscription lag where they receive the messages of a producer (Consumer.Lag), so that those that
// never come are booked apart, too. Call it before the trial ends.
func (t *Trial) SetLagging(producer, subscription int) {
	t.streams[producer].ledgers[subscription].lags = true
}

// lagging returns how many subscriptions lag.
func (s *stream) lagging() (n int64) {
	for i := range s.ledgers {
		if s.ledgers[i].lags {
			n++
		}
	}
	return n
}

// Confirmed returns how many messages of a producer were sent and haven't failed so far.
func (t *Trial) Confirmed(producer int) int64 {
	s := &t.streams[producer]
	end := s.end.Load()
	return int64(end) - s.unconfirmed.count(0, end)
}

// MeasureFrom begins the measured phase: messages intended at or after ns belong to it.
func (t *Trial) MeasureFrom(ns int64) { t.measuredFrom.Store(ns) }

// MeasuredSince returns when the measured phase began, or Undecided.
func (t *Trial) MeasuredSince() int64 { return t.measuredFrom.Load() }

// SetDue sets how many messages were due in each phase by the schedule, which is not derived from what the producers did. Without it,
// Books takes the messages that were sent or unsent as due.
func (t *Trial) SetDue(warmup, measured int64) {
	t.scheduled, t.due = true, Tally{Warmup: warmup, Measured: measured}
}

// Subscriptions returns how often each message should be delivered: once per subscription.
func (t *Trial) Subscriptions() int { return t.subscriptions }

// phase returns the phase of a message by its intended time.
func (t *Trial) phase(intended int64) Phase { return phaseOf(intended, t.measuredFrom.Load()) }

// phase returns the phase of message n.
func (s *stream) phase(n uint64) Phase { return phaseOf(n, s.measured.Load()) }

// numbers returns which messages of a phase were sent: those from from on, below to.
func (s *stream) numbers(phase Phase) (from, to uint64) {
	end := s.end.Load()
	measured := min(end, s.measured.Load())
	if phase == Measured {
		return measured, end
	}
	return 0, measured
}

// A message that never came has a latency, too: at least the time from when it was intended to the end of the wait for it. The methods
// below book that, as censored values. Call them for each message with a schedule, once, when nothing is sent or received any more. For
// example, messages were intended at 1 s and at 2 s, and the wait for them ended at 9 s. If neither came, their latencies are at least 8
// and 7 s.

// BookUnconfirmed books a publish latency for message n of a producer, counted from the first of the trial, if it failed or has no
// outcome. It was intended at a time and waited for until end, ns on the clock's axis.
func (t *Trial) BookUnconfirmed(producer int, n uint64, intended, end int64) {
	if s := &t.streams[producer]; s.unconfirmed.has(n) {
		t.countersOf(producer).publish[s.phase(n)].RecordCensored(end-intended, 1)
	}
}

// BookUndelivered books an end-to-end latency for message n of a producer for each subscription that has not received it, likewise.
func (t *Trial) BookUndelivered(producer int, n uint64, intended, end int64) {
	s := &t.streams[producer]
	for i := range s.ledgers {
		l := &s.ledgers[i]
		if l.seen.has(n) {
			continue
		}
		c := t.countersOf(producer)
		h := &c.endToEnd
		if l.lags {
			h = &c.endToEndLagging
		}
		h[s.phase(n)].RecordCensored(end-intended, 1)
	}
}
