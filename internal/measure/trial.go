// Package measure turns the events of a trial (sent, acknowledged, received) into counts, histograms and a ledger of each stream.
// Recording takes no lock and allocates nothing. It knows nothing of brokers, of pacing, or of what the numbers are used for.
package measure

import (
	"math"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/hist"
)

// Phase is the part of a trial that a message belongs to, by its intended time. Nothing is reset between phases.
type Phase int

// The phases in which messages are sent.
const (
	Warmup Phase = iota
	Measured
	phases // the number of phases
)

// Trial records one trial. Producers, consumers and subscriptions are numbered from 0; each subscription receives the messages of
// every producer.
type Trial struct {
	streams       []stream // by producer
	subscriptions int
	measuredFrom  atomic.Int64 // ns on the clock's axis; Undecided at first
	lanes         []lane
	apart         bool  // the producers run in another process
	scheduled     bool  // SetDue was called
	due           Tally // if scheduled
	unordered     int   // ledgers whose order is not known; see Unordered
}

// Undecided is the beginning of the measured phase while it is not known: later than every time.
const Undecided = math.MaxInt64

// stream is all messages of one producer. Their numbers count from base.
type stream struct {
	base        uint64        // sequence number of the first message of this trial
	end         atomic.Uint64 // one past the last message sent
	measured    atomic.Uint64 // the first message of the measured phase; math.MaxUint64 if there is none
	unconfirmed bitmap        // messages that failed, or were unresolved when the trial ended
	ledgers     []ledger      // by subscription
	times       *timeTable    // nil if payloads carry their times
	host        *Host         // the producer's host; nil: this one
}

// lane holds counters and histograms. A trial has several, so that its producers and consumers don't write to the same cache lines;
// the counts of a trial are the sums over all lanes.
type lane struct {
	sent, sentBytes, acked, failed, resent, unsent [phases]atomic.Int64
	received, corrupted, stale, untimed            [phases]atomic.Int64
	lag, generatorLag, publish, service            [phases]hist.Histogram
	endToEnd, endToEndService                      [phases]hist.Histogram
	early                                          atomic.Int64 // deliveries that seem to have come before they were sent
	earliest                                       atomic.Int64 // the lowest latency of these, ns: 0 or negative
	_                                              [64]byte     // keeps the next lane off this one's last cache line
}

// maxLanes bounds the lanes of a trial, since each takes 0.8 MiB.
const maxLanes = 8

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
		lanes: make([]lane, max(1, min(maxLanes, max(s.Producers, s.Consumers)))),
	}
	t.measuredFrom.Store(Undecided)
	ledgers := make([]ledger, s.Producers*s.Subscriptions)
	for i := range ledgers {
		ledgers[i].keys = s.Keys
		ledgers[i].first.Store(math.MaxInt64)
		ledgers[i].last.Store(math.MinInt64)
	}
	for i := range t.streams {
		st := &t.streams[i]
		st.measured.Store(math.MaxUint64)
		st.ledgers, ledgers = ledgers[:s.Subscriptions:s.Subscriptions], ledgers[s.Subscriptions:]
		if s.ShortPayload {
			st.times = newTimeTable(s.Outstanding, s.Producers)
		}
	}
	return t
}

// lane returns the lane of producer or consumer i.
func (t *Trial) lane(i int) *lane { return &t.lanes[i%len(t.lanes)] }

// SetBase sets the sequence number of a producer's first message in this trial, which is 0 otherwise. Call it before the producer's
// first message.
func (t *Trial) SetBase(producer int, seq uint64) { t.streams[producer].base = seq }

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
func (t *Trial) phase(intended int64) Phase {
	if intended >= t.measuredFrom.Load() {
		return Measured
	}
	return Warmup
}

// phase returns the phase of message n.
func (s *stream) phase(n uint64) Phase {
	if n >= s.measured.Load() {
		return Measured
	}
	return Warmup
}
