package measure

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/wire"
)

// Account is the ledger of one stream and subscription, as plain data for another process.
//
// For example, if messages 0, 2, 1 and again 1 arrived at 10, 20, 30 and 40 ns, Seen holds 0, 1 and 2; one message is duplicated, one
// reordered; First is 10 and Last is 40.
type Account struct {
	Producer, Subscription int
	Seen                   []byte // the messages received, as a packed bitmap
	Duplicated, Reordered  Tally
	First, Last            int64  // when the first and the last delivery came, ns on the axis of the process that received them
	Keys                   []byte `json:",omitempty"` // the keys received, as a packed bitmap; only where order is promised per key
}

// Accounts returns the ledgers in which something was booked.
func (t *Trial) Accounts() []Account {
	var accounts []Account
	for i := range t.streams {
		for j := range t.streams[i].ledgers {
			l := &t.streams[i].ledgers[j]
			seen := l.seen.pack()
			if seen == nil {
				continue
			}
			accounts = append(accounts, Account{
				Producer:     i,
				Subscription: j,
				Seen:         seen,
				Duplicated:   l.duplicated.load(),
				Reordered:    l.reordered.load(),
				First:        l.first.Load(),
				Last:         l.last.Load(),
				Keys:         l.packKeys(),
			})
		}
	}
	return accounts
}

// packKeys returns the keys of which a message came, as a packed bitmap.
func (l *ledger) packKeys() []byte {
	nextOfKey := l.nextOfKey.Load()
	if nextOfKey == nil {
		return nil
	}
	var keys bitmap
	for key := range *nextOfKey {
		if (*nextOfKey)[key].Load() > 0 {
			keys.add(uint64(key))
		}
	}
	return keys.pack()
}

// Enter copies the accounts of consumers in another process into the ledgers. Later accounts of the same ledgers replace
// earlier ones. It refuses an account that can't be right, such as one with messages that were never sent; it may have
// entered others before that.
func (t *Trial) Enter(accounts []Account) error {
	for i := range accounts {
		a := &accounts[i]
		l, err := t.ledgerOf(a)
		if err != nil {
			return err
		}
		if err := l.enter(a, t.streams[a.Producer].end.Load()); err != nil {
			return fmt.Errorf("the account of producer %d and subscription %d: %w", a.Producer, a.Subscription, err)
		}
	}
	return nil
}

// enter copies an account into the ledger. Messages below end were sent.
func (l *ledger) enter(a *Account, end uint64) error {
	if err := l.seen.unpack(a.Seen, end); err != nil {
		return err
	}
	err := unpackKeys(a.Keys, l.keys, func(key int) {
		l.nextWith(key).Store(1) // any number but 0 says that a message with the key came
	})
	if err != nil {
		return err
	}
	for phase := range phases {
		l.duplicated[phase].Store(a.Duplicated[phase])
		l.reordered[phase].Store(a.Reordered[phase])
	}
	l.first.Store(a.First)
	l.last.Store(a.Last)
	return nil
}

// ledgerOf returns the ledger that an account is about. It fails if there is none, or if the account's counts or times are impossible.
func (t *Trial) ledgerOf(a *Account) (*ledger, error) {
	if a.Producer < 0 || a.Producer >= len(t.streams) || a.Subscription < 0 || a.Subscription >= t.subscriptions {
		return nil, fmt.Errorf("an account of producer %d and subscription %d; the trial has %d producers and %d subscriptions, numbered from 0",
			a.Producer, a.Subscription, len(t.streams), t.subscriptions)
	}
	var problem string
	switch {
	case a.Duplicated.negative():
		problem = "numbers of duplicated messages below 0"
	case a.Reordered.negative():
		problem = "numbers of reordered messages below 0"
	case a.Last < a.First:
		problem = "a last message that came before its first"
	default:
		return &t.streams[a.Producer].ledgers[a.Subscription], nil
	}
	return nil, fmt.Errorf("the account of producer %d and subscription %d has %s", a.Producer, a.Subscription, problem)
}

// ShardVersion is the version of a Shard's fields. Join takes no other.
const ShardVersion = 2

// Shard is everything that one agent counted in a trial, as plain data. Join makes one trial of the shards of several agents.
type Shard struct {
	Version    int
	Sent       []Sent
	Seen       []Account
	Counts     Totals
	Histograms [phases]Histograms
	Due        *Tally `json:",omitempty"` // messages due by the schedule; nil without a schedule
	Early      Early
}

// Sent describes the messages that one producer sent. For example, a producer that sent 100 messages in an earlier trial and 50 in this
// one, the last 40 of them in the measured phase, has Base 100, End 50 and Measured 10.
type Sent struct {
	Producer    int
	Base        uint64 // sequence number of its first message in the trial; the fields below count from it
	End         uint64 // one past the last message
	Measured    uint64 // the first message of the measured phase; End if there is none
	Unconfirmed []byte // the messages that failed or were unresolved, as a packed bitmap
}

// Shard returns everything that t holds. Call it when nothing is being sent or received any more.
func (t *Trial) Shard() Shard {
	s := Shard{Version: ShardVersion, Seen: t.Accounts(), Counts: t.totals(), Early: t.Early()}
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

// addShard adds a shard to a joined trial, except for its accounts. It refuses streams of more than maxSent messages together: each has sets of
// its messages, of up to a bit for each. If it fails, the trial is of no use.
func (t *Trial) addShard(s *Shard, maxSent uint64) error {
	switch {
	case s.Version != ShardVersion:
		return fmt.Errorf("it has version %d; this program reads version %d", s.Version, ShardVersion)
	case s.Due != nil && s.Due.negative():
		return fmt.Errorf("it has numbers of messages due below 0: %d", *s.Due)
	case s.Early.Deliveries < 0:
		return fmt.Errorf("it has a number of early deliveries below 0: %d", s.Early.Deliveries)
	case s.Early.By < 0:
		return fmt.Errorf("it has messages that were early by less than 0 ns: %d", s.Early.By)
	}
	c := t.countersOf(0)
	if err := c.addTotals(s.Counts); err != nil {
		return err
	}
	listed := map[int]bool{} // producers
	var all uint64
	for _, sent := range s.Sent {
		if listed[sent.Producer] {
			return fmt.Errorf("producer %d is listed twice", sent.Producer)
		}
		listed[sent.Producer] = true
		if err := t.addSent(sent, maxSent); err != nil {
			return err
		}
		if all += sent.End; all > maxSent {
			return fmt.Errorf("its producers sent %d messages; up to %d are possible", all, maxSent)
		}
	}
	for phase := range phases {
		c.addHistograms(phase, &s.Histograms[phase])
	}
	c.early.Add(s.Early.Deliveries)
	raise(&c.earlyBy, s.Early.By)
	if s.Due != nil {
		t.scheduled = true
		t.due.add(*s.Due)
	} else { // as in Books, for the case that another shard has a schedule
		t.due.add(s.Counts.Sent)
		t.due.add(s.Counts.Unsent)
	}
	return nil
}

// addSent sets the stream of a producer. It refuses a producer that sent for another agent as well.
func (t *Trial) addSent(sent Sent, maxSent uint64) error {
	if sent.Producer < 0 || sent.Producer >= len(t.streams) {
		return fmt.Errorf("producer %d is not one of the trial's %d, numbered from 0", sent.Producer, len(t.streams))
	}
	s := &t.streams[sent.Producer]
	switch {
	case s.end.Load() > 0:
		return fmt.Errorf("producer %d sent for another agent, too", sent.Producer)
	case sent.End == 0 || sent.End > maxSent || sent.Measured > sent.End:
		return fmt.Errorf("producer %d sent %d messages, the measured phase begins with number %d; 1 to %d messages are possible",
			sent.Producer, sent.End, sent.Measured, maxSent)
	case sent.Base > wire.MaxSeq || sent.End-1 > wire.MaxSeq-sent.Base:
		return fmt.Errorf("producer %d counts from number %d on and sent %d messages; numbers end with %d",
			sent.Producer, sent.Base, sent.End, uint64(wire.MaxSeq))
	}
	s.base = sent.Base
	s.end.Store(sent.End)
	s.measured.Store(sent.Measured)
	if err := s.unconfirmed.unpack(sent.Unconfirmed, sent.End); err != nil {
		return fmt.Errorf("the unconfirmed messages of producer %d: %w", sent.Producer, err)
	}
	return nil
}
