package measure

import (
	"fmt"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/hist"
)

// ShardVersion is that of a Shard's form. Join takes no other.
const ShardVersion = 1

// Shard is everything that one agent counted in a trial, as plain data.
type Shard struct {
	Version    int
	Sent       []Sent
	Seen       []Account
	Counts     Counts
	Histograms [phases]Histograms
	Due        *Tally `json:",omitempty"` // see Trial.Scheduled; nil: what was asked for was due
	Early      Early
}

// Sent is what one producer sent.
type Sent struct {
	Producer    int
	Base        uint64 // number of its first message in the trial; the others are counted from there
	End         uint64 // one past the last
	Measured    uint64 // the first of the measured phase; End where there is none
	Unconfirmed []byte // which failed or were unresolved; see bitmap.pack
}

// Counts are what is counted beside the ledgers.
type Counts struct {
	Sent, Bytes, Acked, Failed, Unsent, Resent, Received, Corrupted, Stale, Untimed Tally
}

func (c *Counts) of(phase Phase) [10]*int64 {
	return [...]*int64{
		&c.Sent[phase], &c.Bytes[phase], &c.Acked[phase], &c.Failed[phase], &c.Unsent[phase],
		&c.Resent[phase], &c.Received[phase], &c.Corrupted[phase], &c.Stale[phase], &c.Untimed[phase],
	}
}

// counters are those of Counts, in the same order.
func (l *lane) counters(phase Phase) [10]*atomic.Int64 {
	return [...]*atomic.Int64{
		&l.sent[phase], &l.sentBytes[phase], &l.acked[phase], &l.failed[phase], &l.unsent[phase],
		&l.resent[phase], &l.received[phase], &l.corrupted[phase], &l.stale[phase], &l.untimed[phase],
	}
}

// Shard is everything that t holds. Call it when its books are closed.
func (t *Trial) Shard() Shard {
	s := Shard{Version: ShardVersion, Seen: t.Accounts(), Early: t.Early()}
	for i := range t.streams {
		st := &t.streams[i]
		if end := st.end.Load(); end > 0 {
			s.Sent = append(s.Sent, Sent{i, st.base, end, min(end, st.measured.Load()), st.unconfirmed.pack()})
		}
	}
	for phase := range phases {
		s.Histograms[phase] = t.Histograms(phase)
		counts := s.Counts.of(phase)
		for i := range t.lanes {
			for k, counter := range t.lanes[i].counters(phase) {
				*counts[k] += counter.Load()
			}
		}
	}
	if t.scheduled {
		due := Tally(t.due)
		s.Due = &due
	}
	return s
}

// takeSent takes over what a shard sent, and its counts.
func (t *Trial) takeSent(s *Shard, most uint64) error {
	if s.Version != ShardVersion {
		return fmt.Errorf("it has version %d; this program reads version %d", s.Version, ShardVersion)
	}
	for _, sent := range s.Sent {
		if sent.Producer < 0 || sent.Producer >= len(t.streams) {
			return fmt.Errorf("producer %d is none of %d", sent.Producer, len(t.streams))
		}
		st := &t.streams[sent.Producer]
		switch {
		case st.end.Load() > 0:
			return fmt.Errorf("producer %d sent for another agent, too", sent.Producer)
		case sent.End == 0 || sent.End > most || sent.Measured > sent.End:
			return fmt.Errorf("producer %d sent %d messages, the measured phase begins with number %d; 1 to %d messages are possible", sent.Producer, sent.End, sent.Measured, most)
		}
		st.base = sent.Base
		st.end.Store(sent.End)
		st.measured.Store(sent.Measured)
		if err := st.unconfirmed.unpack(sent.Unconfirmed, (sent.End+63)/64); err != nil {
			return fmt.Errorf("the unconfirmed messages of producer %d: %w", sent.Producer, err)
		}
	}
	l := &t.lanes[0]
	for phase := range phases {
		counters := l.counters(phase)
		for k, n := range s.Counts.of(phase) {
			if *n < 0 {
				return fmt.Errorf("it has counts below 0: %+v", s.Counts)
			}
			counters[k].Add(*n)
		}
		l.grow(phase, &s.Histograms[phase])
	}
	if s.Due != nil {
		t.scheduled = true
		for phase, n := range s.Due {
			t.due[phase] += n
		}
	}
	l.early.Add(s.Early.Deliveries)
	l.earliest.Store(min(l.earliest.Load(), -s.Early.By))
	return nil
}

// grow adds the histograms of a phase.
func (l *lane) grow(phase Phase, h *Histograms) {
	var none hist.Snapshot
	l.endToEnd[phase].Grow(none, h.EndToEnd)
	l.endToEndService[phase].Grow(none, h.EndToEndService)
	l.publish[phase].Grow(none, h.Publish)
	l.service[phase].Grow(none, h.Service)
	l.lag[phase].Grow(none, h.Lag)
	l.generatorLag[phase].Grow(none, h.GeneratorLag)
}
