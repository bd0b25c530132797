package measure

import books "github.com/brokermark/brokermark/internal/ledger"

// Books are the counts of a phase.
type Books = books.Books

// Books returns the counts of a phase. Call it when nothing is being sent or received any more.
func (t *Trial) Books(phase Phase) Books {
	c := t.totals()
	b := Books{
		Due:        c.Sent[phase] + c.Unsent[phase],
		Sent:       c.Sent[phase],
		Bytes:      c.Bytes[phase],
		Unsent:     c.Unsent[phase],
		Resent:     c.Resent[phase],
		Acked:      c.Acked[phase],
		Failed:     c.Failed[phase],
		Unresolved: c.Sent[phase] - c.Acked[phase] - c.Failed[phase],
		Corrupted:  c.Corrupted[phase],
		Stale:      c.Stale[phase],
		Untimed:    c.Untimed[phase],
	}
	if t.scheduled {
		b.Due = t.due[phase]
	}
	for i := range t.streams {
		s := &t.streams[i]
		for subscription := range s.ledgers {
			b.Add(s.deliveries(subscription, phase))
		}
	}
	return b
}

// deliveries returns the counts of a phase for one subscription: Expected, Received, Lost, LostAcked, Duplicated and Reordered. The other
// counts are 0.
func (s *stream) deliveries(subscription int, phase Phase) Books {
	l := &s.ledgers[subscription]
	from, to := s.numbers(phase)
	lost, lostAcked := l.lost(from, to, &s.unconfirmed)
	return Books{
		Expected:   int64(to - from),
		Received:   l.seen.count(from, to),
		Lost:       lost,
		LostAcked:  lostAcked,
		Duplicated: l.duplicated[phase].Load(),
		Reordered:  l.reordered[phase].Load(),
	}
}

// StreamBooks are the counts of one stream and subscription over the whole trial. Unresolved messages count as failed.
type StreamBooks struct {
	Producer, Subscription int
	Books                  Books
	Lost                   []Range // numbers count from the stream's first message of the trial; at most maxRanges
	LostCut                bool    // there were more ranges
}

// maxRanges bounds how many ranges StreamBooks lists.
const maxRanges = 100

// Streams returns the books of all streams and subscriptions if all is set; otherwise only those with lost, duplicated or reordered
// messages. They are in the order of producer and subscription.
func (t *Trial) Streams(all bool) []StreamBooks {
	var out []StreamBooks
	for i := range t.streams {
		s := &t.streams[i]
		end := s.end.Load()
		for subscription := range s.ledgers {
			b := s.deliveries(subscription, Warmup)
			b.Add(s.deliveries(subscription, Measured))
			if !all && b.Lost+b.Duplicated+b.Reordered == 0 {
				continue
			}
			b.Sent, b.Failed = int64(end), s.unconfirmed.count(0, end)
			b.Acked = b.Sent - b.Failed
			lost, cut := s.ledgers[subscription].lostRanges(0, end, maxRanges)
			out = append(out, StreamBooks{Producer: i, Subscription: subscription, Books: b, Lost: lost, LostCut: cut})
		}
	}
	return out
}

// Missing returns how many deliveries haven't come yet, over all subscriptions, of messages that haven't failed. It asks the ledgers:
// sent − failed − received would be too low if a message that was reported as failed has arrived.
func (t *Trial) Missing() int64 {
	var missing int64
	for i := range t.streams {
		s := &t.streams[i]
		for j := range s.ledgers {
			// Until the trial has ended, only messages that failed are unconfirmed.
			_, lostNotFailed := s.ledgers[j].lost(0, s.end.Load(), &s.unconfirmed)
			missing += lostNotFailed
		}
	}
	return missing
}
