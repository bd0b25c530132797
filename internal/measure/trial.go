// Package measure turns the events of a trial (sent, acknowledged, received) into counts, histograms and the ledger.
// Recording is lock-free and allocation-free. It knows nothing of brokers, pacing or what the numbers will be used for.
package measure

import (
	"math"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/hist"
)

// Phase is the part of a trial a message belongs to, by its intended time. Nothing is reset between phases.
type Phase int

// The phases in which messages are sent.
const (
	Warmup Phase = iota
	Measured
	phases
)

// maxLanes bounds how many lanes spread the counters over cache lines; producers and consumers use the lane of their
// number. A lane takes 0.8 MiB, so there are no more of them than there are producers or consumers.
const maxLanes = 8

type lane struct {
	sent, sentBytes, acked, failed      [phases]atomic.Int64
	resent, unsent                      [phases]atomic.Int64
	received, corrupted, stale, untimed [phases]atomic.Int64
	lag, generatorLag, publish, service [phases]hist.Histogram
	endToEnd, endToEndService           [phases]hist.Histogram
	early, earliest                     atomic.Int64 // see Early
	_                                   [64]byte
}

// Trial collects one trial. Producers and consumers are numbered from 0; every subscription index occurs with every
// producer whose topic it belongs to.
type Trial struct {
	streams       []stream
	subscriptions int
	from          atomic.Int64 // intended times from here on are Measured; ns on the clock's axis
	lanes         []lane
	apart         bool // the producers run in another process
	scheduled     bool
	due           [phases]int64 // where scheduled
	unordered     int           // see Unordered
}

// stream is what one producer sends.
type stream struct {
	base        uint64        // its first sequence number in this trial; fixed before the trial begins
	end         atomic.Uint64 // one past the last number stamped, from base
	measured    atomic.Uint64 // the first number of the measured phase, from base
	unconfirmed bitmap        // failed, or unresolved when the trial ended
	ledgers     []ledger      // per subscription
	times       *timeTable    // nil where payloads carry their times
	host        *Host         // that has the producer; nil: this one
}

// Shape is what a Trial has to know of the topology.
type Shape struct {
	Producers     int
	Consumers     int
	Subscriptions int  // per producer's topic
	Keys          int  // > 0: order is promised per key
	ShortPayload  bool // payloads too short to carry their times
	Outstanding   int  // messages per producer whose times are kept when payloads are short
	// Apart tells that the producers are in another process: payloads carry their times, and whether a message was sent, and
	// belongs to the stream, is for whoever enters the Accounts to say.
	Apart bool
}

func (t *Trial) lane(i int) *lane { return &t.lanes[i%len(t.lanes)] }

// NewTrial makes an empty trial. Every message counts as warm-up until MeasureFrom says when the measured phase begins.
func NewTrial(s Shape) *Trial {
	t := &Trial{
		streams: make([]stream, s.Producers), subscriptions: s.Subscriptions, apart: s.Apart,
		lanes: make([]lane, max(1, min(maxLanes, max(s.Producers, s.Consumers)))),
	}
	t.from.Store(math.MaxInt64)
	ledgers := make([]ledger, s.Producers*s.Subscriptions)
	for i := range ledgers {
		ledgers[i].keys = s.Keys
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

// Base tells the number of a producer's first message in this trial. Call it before the trial begins.
func (t *Trial) Base(producer int, seq uint64) { t.streams[producer].base = seq }

// MeasureFrom begins the measured phase: messages intended at or after ns belong to it.
func (t *Trial) MeasureFrom(ns int64) { t.from.Store(ns) }

// Scheduled says how many messages were due in each phase by the schedule, counted apart from what the producers did.
// Call it before Books.
func (t *Trial) Scheduled(warmup, measured int64) {
	t.scheduled, t.due = true, [phases]int64{warmup, measured}
}

// MeasuredSince tells when the measured phase began; math.MaxInt64 while it hasn't been decided.
func (t *Trial) MeasuredSince() int64 { return t.from.Load() }

// phase is that of a message due at intended.
func (t *Trial) phase(intended int64) Phase {
	if intended >= t.from.Load() {
		return Measured
	}
	return Warmup
}

func (s *stream) phase(n uint64) Phase {
	if n >= s.measured.Load() {
		return Measured
	}
	return Warmup
}

// timeTable keeps the intended and sent times of the last messages of a stream, for payloads too short to carry
// them. A message that arrives after its entry was reused counts as untimed.
type timeTable struct {
	mask    uint64
	entries atomic.Pointer[[]timeEntry] // made with the first message
}

type timeEntry struct{ seq, intended, sent atomic.Int64 }

// A table holds at least the messages in flight; since messages wait in the broker as well, it holds up to preferredEntries,
// unless all tables together would exceed maxAllEntries.
const (
	preferredEntries = 1024
	minEntries       = 64
	maxAllEntries    = 1 << 20
)

func newTimeTable(outstanding, producers int) *timeTable {
	size := minEntries
	for size < outstanding || (size < preferredEntries && size*producers < maxAllEntries) {
		size *= 2
	}
	return &timeTable{mask: uint64(size - 1)}
}

// put is called by the sending goroutine only.
func (t *timeTable) put(n uint64, intended, sent int64) {
	entries := t.entries.Load()
	if entries == nil {
		made := make([]timeEntry, t.mask+1)
		entries = &made
		t.entries.Store(entries)
	}
	e := &(*entries)[n&t.mask]
	e.seq.Store(0) // a reader in between sees neither number
	e.intended.Store(intended)
	e.sent.Store(sent)
	e.seq.Store(int64(n) + 1)
}

// look finds the times of a message, unless its entry has been used for another one.
func (t *timeTable) look(n uint64) (intended, sent int64, ok bool) {
	entries := t.entries.Load()
	if entries == nil {
		return 0, 0, false
	}
	e := &(*entries)[n&t.mask]
	if e.seq.Load() != int64(n)+1 {
		return 0, 0, false
	}
	intended, sent = e.intended.Load(), e.sent.Load()
	return intended, sent, e.seq.Load() == int64(n)+1
}
