package measure

import (
	"github.com/brokermark/brokermark/internal/hist"
	counts "github.com/brokermark/brokermark/internal/ledger"
)

// Books are the counts of a phase.
type Books = counts.Books

// Books returns the counts of a phase. Call it when nothing is being sent or received any more.
func (t *Trial) Books(phase Phase) Books {
	c := t.counts()
	b := Books{
		Due: c.Sent[phase] + c.Unsent[phase], Sent: c.Sent[phase], Bytes: c.Bytes[phase], Unsent: c.Unsent[phase], Resent: c.Resent[phase],
		Acked: c.Acked[phase], Failed: c.Failed[phase], Unresolved: c.Sent[phase] - c.Acked[phase] - c.Failed[phase],
		Corrupted: c.Corrupted[phase], Stale: c.Stale[phase], Untimed: c.Untimed[phase],
	}
	if t.scheduled {
		b.Due = t.due[phase]
	}
	for i := range t.streams {
		for j := range t.streams[i].ledgers {
			s := t.streamBooks(i, j, phase)
			s.Sent, s.Acked, s.Failed = 0, 0, 0 // b has them already, once per message and not once per subscription
			b.Add(s)
		}
	}
	return b
}

// StreamBooks are the counts of one stream and subscription over the whole trial.
type StreamBooks struct {
	Producer, Subscription int
	Books                  Books
	Lost                   []Range // numbers count from the stream's first message of the trial; at most maxRanges
	LostCut                bool    // there were more ranges
}

const maxRanges = 100

// Streams returns the books of all streams and subscriptions if all is set; otherwise only those with lost, duplicated or reordered
// messages. They are in the order of producer and subscription.
func (t *Trial) Streams(all bool) []StreamBooks {
	var out []StreamBooks
	for i := range t.streams {
		st := &t.streams[i]
		for j := range st.ledgers {
			books := t.streamBooks(i, j, Warmup)
			books.Add(t.streamBooks(i, j, Measured))
			if !all && books.Lost+books.Duplicated+books.Reordered == 0 {
				continue
			}
			s := StreamBooks{Producer: i, Subscription: j, Books: books}
			s.Lost, s.LostCut = st.ledgers[j].lostRanges(0, st.end.Load(), maxRanges)
			out = append(out, s)
		}
	}
	return out
}

// streamBooks returns the counts of one stream, subscription and phase. Unresolved messages count as failed.
func (t *Trial) streamBooks(producer, subscription int, phase Phase) Books {
	s := &t.streams[producer]
	l := &s.ledgers[subscription]
	from, to := uint64(0), s.end.Load()
	measured := min(to, s.measured.Load())
	if phase == Warmup {
		to = measured
	} else {
		from = measured
	}
	b := Books{
		Sent: int64(to - from), Expected: int64(to - from), Received: l.seen.count(from, to), Failed: s.unconfirmed.count(from, to),
		Duplicated: l.duplicated[phase].Load(), Reordered: l.reordered[phase].Load(),
	}
	b.Acked = b.Sent - b.Failed
	b.Lost, b.LostAcked = l.lost(from, to, &s.unconfirmed)
	return b
}

// Missing counts the deliveries still to come of messages that haven't failed, over all subscriptions. It asks the ledgers, because a
// difference of counters is wrong when a message arrives that was reported as failed.
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

// Histograms are the latencies of a phase, ns.
type Histograms struct {
	EndToEnd, EndToEndService, Publish, Service, Lag, GeneratorLag hist.Snapshot
}

// Histograms returns the latencies of a phase so far.
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

// Merge adds the latencies of other.
func (h *Histograms) Merge(other Histograms) {
	h.EndToEnd = h.EndToEnd.Merge(other.EndToEnd)
	h.EndToEndService = h.EndToEndService.Merge(other.EndToEndService)
	h.Publish = h.Publish.Merge(other.Publish)
	h.Service = h.Service.Merge(other.Service)
	h.Lag = h.Lag.Merge(other.Lag)
	h.GeneratorLag = h.GeneratorLag.Merge(other.GeneratorLag)
}

// EndToEnd returns the end-to-end latencies so far, all phases together; the publish latencies if nobody subscribes.
func (t *Trial) EndToEnd() hist.Snapshot {
	var s hist.Snapshot
	for i := range t.lanes {
		h := &t.lanes[i].endToEnd
		if t.subscriptions == 0 {
			h = &t.lanes[i].publish
		}
		s = s.Merge(h[Warmup].Snapshot()).Merge(h[Measured].Snapshot())
	}
	return s
}

// Service returns the latencies from the actual send to the acknowledgement so far, all phases together.
func (t *Trial) Service() hist.Snapshot {
	var s hist.Snapshot
	for i := range t.lanes {
		h := &t.lanes[i].service
		s = s.Merge(h[Warmup].Snapshot()).Merge(h[Measured].Snapshot())
	}
	return s
}

// FromSend returns the number and the sum, in ns, of the latencies from the actual send to the receipt so far, all phases together; to
// the acknowledgement if nobody subscribes.
func (t *Trial) FromSend() (count int64, sum float64) {
	for i := range t.lanes {
		h := &t.lanes[i].endToEndService
		if t.subscriptions == 0 {
			h = &t.lanes[i].service
		}
		for phase := range phases {
			n, ns := h[phase].Totals()
			count, sum = count+n, sum+ns
		}
	}
	return count, sum
}
