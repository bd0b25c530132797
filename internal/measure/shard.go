package measure

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/wire"
)

// ShardVersion is the version of a Shard's fields. Join takes no other.
const ShardVersion = 1

// Shard is everything that one agent counted in a trial, as plain data.
type Shard struct {
	Version    int
	Sent       []Sent
	Seen       []Account
	Counts     Counts
	Histograms [phases]Histograms
	Due        *Tally `json:",omitempty"` // messages due by the schedule; nil without a schedule
	Early      Early
}

// Sent describes the messages that one producer sent.
type Sent struct {
	Producer    int
	Base        uint64 // number of its first message in the trial; the fields below count from it
	End         uint64 // one past the last message
	Measured    uint64 // the first message of the measured phase; End if there is none
	Unconfirmed []byte // the messages that failed or were unresolved, as a packed bitmap
}

// Shard returns everything that t holds. Call it when nothing is being sent or received any more.
func (t *Trial) Shard() Shard {
	s := Shard{Version: ShardVersion, Seen: t.Accounts(), Counts: t.counts(), Early: t.Early()}
	for i := range t.streams {
		st := &t.streams[i]
		if end := st.end.Load(); end > 0 {
			s.Sent = append(s.Sent, Sent{
				Producer: i, Base: st.base, End: end, Measured: min(end, st.measured.Load()), Unconfirmed: st.unconfirmed.pack(),
			})
		}
	}
	for phase := range phases {
		s.Histograms[phase] = t.Histograms(phase)
	}
	if t.scheduled {
		due := t.due
		s.Due = &due
	}
	return s
}

// addShard adds a shard to a joined trial, except for its accounts. It refuses a stream of more than maxSent messages.
func (t *Trial) addShard(s *Shard, maxSent uint64) error {
	switch {
	case s.Version != ShardVersion:
		return fmt.Errorf("it has version %d; this program reads version %d", s.Version, ShardVersion)
	case s.Counts.negative():
		return fmt.Errorf("it has counts below 0: %+v", s.Counts)
	case s.Due != nil && s.Due.negative():
		return fmt.Errorf("it has numbers of messages due below 0: %d", *s.Due)
	case s.Early.Deliveries < 0:
		return fmt.Errorf("it has a number of early deliveries below 0: %d", s.Early.Deliveries)
	case s.Early.By < 0:
		return fmt.Errorf("it has messages that were early by less than 0 ns: %d", s.Early.By)
	}
	listed := map[int]bool{}
	for _, sent := range s.Sent {
		if listed[sent.Producer] {
			return fmt.Errorf("producer %d is listed twice", sent.Producer)
		}
		listed[sent.Producer] = true
		if err := t.addSent(sent, maxSent); err != nil {
			return err
		}
	}
	l := &t.lanes[0]
	l.addCounts(s.Counts)
	for phase := range phases {
		l.addHistograms(phase, &s.Histograms[phase])
	}
	for phase := range phases {
		if s.Due != nil {
			t.scheduled = true
			t.due[phase] += s.Due[phase]
		} else {
			t.due[phase] += s.Counts.Sent[phase] + s.Counts.Unsent[phase]
		}
	}
	l.early.Add(s.Early.Deliveries)
	l.earliest.Store(min(l.earliest.Load(), -s.Early.By))
	return nil
}

// addSent sets the stream of a producer, which only one agent has.
func (t *Trial) addSent(sent Sent, maxSent uint64) error {
	if sent.Producer < 0 || sent.Producer >= len(t.streams) {
		return fmt.Errorf("producer %d is not one of the trial's %d, numbered from 0", sent.Producer, len(t.streams))
	}
	st := &t.streams[sent.Producer]
	switch {
	case st.end.Load() > 0:
		return fmt.Errorf("producer %d sent for another agent, too", sent.Producer)
	case sent.End == 0 || sent.End > maxSent || sent.Measured > sent.End:
		return fmt.Errorf("producer %d sent %d messages, the measured phase begins with number %d; 1 to %d messages are possible",
			sent.Producer, sent.End, sent.Measured, maxSent)
	case sent.Base > wire.MaxSeq || sent.Base+sent.End > wire.MaxSeq+1:
		return fmt.Errorf("producer %d counts from number %d on and sent %d messages; numbers end with %d", sent.Producer, sent.Base, sent.End, uint64(wire.MaxSeq))
	}
	st.base = sent.Base
	st.end.Store(sent.End)
	st.measured.Store(sent.Measured)
	if err := st.unconfirmed.unpack(sent.Unconfirmed, sent.End); err != nil {
		return fmt.Errorf("the unconfirmed messages of producer %d: %w", sent.Producer, err)
	}
	return nil
}

// addHistograms adds the histograms of a phase to those of the lane.
func (l *lane) addHistograms(phase Phase, h *Histograms) {
	var empty hist.Snapshot
	l.endToEnd[phase].Grow(empty, h.EndToEnd)
	l.endToEndService[phase].Grow(empty, h.EndToEndService)
	l.publish[phase].Grow(empty, h.Publish)
	l.service[phase].Grow(empty, h.Service)
	l.lag[phase].Grow(empty, h.Lag)
	l.generatorLag[phase].Grow(empty, h.GeneratorLag)
}
