package measure

import (
	"math"

	"github.com/brokermark/brokermark/internal/hist"
	counts "github.com/brokermark/brokermark/internal/ledger"
)

// Books are the counts of a phase.
type Books = counts.Books

// Histograms are the latencies of a phase, ns.
type Histograms struct {
	EndToEnd, EndToEndService, Publish, Service, Lag, GeneratorLag hist.Snapshot
}

// StreamBooks is the ledger of one producer and subscription, whole trial.
type StreamBooks struct {
	Producer, Subscription int
	Books                  Books
	Lost                   []Range // counted from the stream's first message of the trial
	LostCut                bool    // there were more ranges
}

// maxRanges bounds the lost ranges kept per stream.
const maxRanges = 100

// Books closes the books of a phase. Call it when nothing is being sent or received any more. Without a schedule
// (see Scheduled) what was asked for was due.
func (t *Trial) Books(phase Phase) Books {
	var b Books
	for i := range t.lanes {
		l := &t.lanes[i]
		b.Sent += l.sent[phase].Load()
		b.Bytes += l.sentBytes[phase].Load()
		b.Acked += l.acked[phase].Load()
		b.Failed += l.failed[phase].Load()
		b.Corrupted += l.corrupted[phase].Load()
		b.Stale += l.stale[phase].Load()
		b.Untimed += l.untimed[phase].Load()
		b.Resent += l.resent[phase].Load()
		b.Unsent += l.unsent[phase].Load()
	}
	b.Unresolved = b.Sent - b.Acked - b.Failed
	b.Due = b.Sent + b.Unsent
	if t.scheduled {
		b.Due = t.due[phase]
	}
	for i := range t.streams {
		for j := range t.streams[i].ledgers {
			s := t.streamBooks(i, j, phase)
			s.Sent, s.Acked, s.Failed = 0, 0, 0 // once per message, not per subscription
			b.Add(s)
		}
	}
	return b
}

// Streams returns the ledgers that show a fault (loss, duplicates, reorders), whole trial, in order of producer and
// subscription; with all, every ledger.
func (t *Trial) Streams(all bool) []StreamBooks {
	var out []StreamBooks
	for i := range t.streams {
		for j := range t.streams[i].ledgers {
			s := StreamBooks{Producer: i, Subscription: j, Books: t.streamBooks(i, j, Warmup)}
			s.Books.Add(t.streamBooks(i, j, Measured))
			if !all && s.Books.Lost+s.Books.Duplicated+s.Books.Reordered == 0 {
				continue
			}
			st := &t.streams[i]
			s.Lost, s.LostCut = st.ledgers[j].lostRanges(0, st.end.Load(), maxRanges)
			out = append(out, s)
		}
	}
	return out
}

func (t *Trial) streamBooks(producer, subscription int, phase Phase) Books {
	s := &t.streams[producer]
	l := &s.ledgers[subscription]
	from, to := uint64(0), s.end.Load()
	switch measured := s.measured.Load(); phase {
	case Warmup:
		to = min(to, measured)
	default:
		from = min(to, measured)
	}
	b := Books{Sent: int64(to - from), Expected: int64(to - from)}
	b.Received = l.seen.count(from, to)
	b.Lost, b.LostAcked = l.lost(from, to, &s.unconfirmed)
	b.Failed = s.unconfirmed.count(from, to)
	b.Acked = b.Sent - b.Failed
	b.Duplicated = l.duplicated[phase].Load()
	b.Reordered = l.reordered[phase].Load()
	return b
}

// Missing counts the deliveries still to come of messages that haven't failed, over all subscriptions. Unlike a
// difference of counters it isn't misled by messages that were reported as failed and arrived all the same.
func (t *Trial) Missing() int64 {
	var missing int64
	for i := range t.streams {
		s := &t.streams[i]
		for j := range s.ledgers {
			_, acked := s.ledgers[j].lost(0, s.end.Load(), &s.unconfirmed)
			missing += acked
		}
	}
	return missing
}

// Histograms freezes the histograms of a phase.
func (t *Trial) Histograms(phase Phase) Histograms {
	var h Histograms
	for i := range t.lanes {
		l := &t.lanes[i]
		h.Merge(Histograms{
			EndToEnd: l.endToEnd[phase].Snapshot(), EndToEndService: l.endToEndService[phase].Snapshot(),
			Publish: l.publish[phase].Snapshot(), Service: l.service[phase].Snapshot(),
			Lag: l.lag[phase].Snapshot(), GeneratorLag: l.generatorLag[phase].Snapshot(),
		})
	}
	return h
}

// Merge adds the histograms of another shard.
func (h *Histograms) Merge(o Histograms) {
	h.EndToEnd = h.EndToEnd.Merge(o.EndToEnd)
	h.EndToEndService = h.EndToEndService.Merge(o.EndToEndService)
	h.Publish = h.Publish.Merge(o.Publish)
	h.Service = h.Service.Merge(o.Service)
	h.Lag = h.Lag.Merge(o.Lag)
	h.GeneratorLag = h.GeneratorLag.Merge(o.GeneratorLag)
}

// Count is a momentary view of the counters, all phases.
type Count struct{ Sent, Bytes, Acked, Failed, Received int64 }

// Count reads the live counters; it may be called at any time.
func (t *Trial) Count() Count {
	var c Count
	for i := range t.lanes {
		l := &t.lanes[i]
		for phase := range phases {
			// Received first: what is counted as received was sent before.
			c.Received += l.received[phase].Load()
			c.Acked += l.acked[phase].Load()
			c.Failed += l.failed[phase].Load()
			c.Bytes += l.sentBytes[phase].Load()
			c.Sent += l.sent[phase].Load()
		}
	}
	return c
}

// Subscriptions is how many deliveries each message should have.
func (t *Trial) Subscriptions() int { return t.subscriptions }

// EndToEnd is a momentary view of the end-to-end latency over all phases; publish latency where nobody subscribes.
func (t *Trial) EndToEnd() hist.Snapshot {
	var s hist.Snapshot
	for i := range t.lanes {
		for phase := range phases {
			if t.subscriptions > 0 {
				s = s.Merge(t.lanes[i].endToEnd[phase].Snapshot())
			} else {
				s = s.Merge(t.lanes[i].publish[phase].Snapshot())
			}
		}
	}
	return s
}

// Service is a momentary view of the service time (from sent to acked) over all phases.
func (t *Trial) Service() hist.Snapshot {
	var s hist.Snapshot
	for i := range t.lanes {
		for phase := range phases {
			s = s.Merge(t.lanes[i].service[phase].Snapshot())
		}
	}
	return s
}

// FromSend is the number and the sum, ns, of the latencies so far from the actual send to the receipt, over all phases; to
// the acknowledgement where nobody subscribes.
func (t *Trial) FromSend() (n int64, sum float64) {
	for i := range t.lanes {
		for phase := range phases {
			h := &t.lanes[i].endToEndService[phase]
			if t.subscriptions == 0 {
				h = &t.lanes[i].service[phase]
			}
			m, s := h.Totals()
			n, sum = n+m, sum+s
		}
	}
	return n, sum
}

// Undecided is what MeasuredSince returns while the measured phase hasn't begun.
const Undecided = math.MaxInt64
