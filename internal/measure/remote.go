package measure

import (
	"fmt"
	"math/bits"

	"github.com/brokermark/brokermark/internal/hist"
)

// Receipts is what the consumers of a trial have received so far, as plain data for another process. Its counters only rise.
type Receipts struct {
	Received, Corrupted, Stale, Untimed Tally
	// Latencies by phase; nil if these receipts come without them.
	EndToEnd, Service *[phases]hist.Snapshot `json:",omitempty"`
}

// Receipts reads the counters, and the histograms if withLatencies is set; it may be called at any time.
func (t *Trial) Receipts(withLatencies bool) Receipts {
	c := t.counts()
	r := Receipts{Received: c.Received, Corrupted: c.Corrupted, Stale: c.Stale, Untimed: c.Untimed}
	if !withLatencies {
		return r
	}
	r.EndToEnd, r.Service = new([phases]hist.Snapshot), new([phases]hist.Snapshot)
	for i := range t.lanes {
		for phase := range phases {
			r.EndToEnd[phase] = r.EndToEnd[phase].Merge(t.lanes[i].endToEnd[phase].Snapshot())
			r.Service[phase] = r.Service[phase].Merge(t.lanes[i].endToEndService[phase].Snapshot())
		}
	}
	return r
}

// Absorb books what the consumers in another process have received between two of their receipts; the first call takes the zero
// value as before. It returns the value to pass as before of the next call, which may hold older latencies than now. Absorb belongs
// to one goroutine.
func (t *Trial) Absorb(before, now Receipts) Receipts {
	l := t.lane(0)
	for phase := range phases {
		l.corrupted[phase].Add(now.Corrupted[phase] - before.Corrupted[phase])
		l.stale[phase].Add(now.Stale[phase] - before.Stale[phase])
		l.untimed[phase].Add(now.Untimed[phase] - before.Untimed[phase])
		l.received[phase].Add(now.Received[phase] - before.Received[phase])
	}
	if now.EndToEnd == nil || now.Service == nil {
		now.EndToEnd, now.Service = before.EndToEnd, before.Service
		return now
	}
	if before.EndToEnd == nil {
		before.EndToEnd, before.Service = new([phases]hist.Snapshot), new([phases]hist.Snapshot)
	}
	for phase := range phases {
		l.endToEnd[phase].Grow(before.EndToEnd[phase], now.EndToEnd[phase])
		l.endToEndService[phase].Grow(before.Service[phase], now.Service[phase])
	}
	return now
}

// Account is the ledger of one stream and subscription, as plain data.
type Account struct {
	Producer, Subscription int
	Seen                   []byte // the messages received, as a packed bitmap
	Duplicated, Reordered  Tally
	First, Last            int64  // when the first and the last message came, ns on the axis of the process that received them
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
			a := Account{Producer: i, Subscription: j, Seen: seen, First: l.first.Load(), Last: l.last.Load(), Keys: l.packKeys()}
			for phase := range phases {
				a.Duplicated[phase], a.Reordered[phase] = l.duplicated[phase].Load(), l.reordered[phase].Load()
			}
			accounts = append(accounts, a)
		}
	}
	return accounts
}

// Enter copies the accounts of consumers in another process into the ledgers. Later accounts of the same ledgers replace earlier ones.
func (t *Trial) Enter(accounts []Account) error {
	for _, a := range accounts {
		if err := t.checkAccount(&a); err != nil {
			return err
		}
		if err := t.enter(a); err != nil {
			return fmt.Errorf("the account of producer %d and subscription %d: %w", a.Producer, a.Subscription, err)
		}
	}
	return nil
}

func (t *Trial) enter(a Account) error {
	s := &t.streams[a.Producer]
	l := &s.ledgers[a.Subscription]
	if err := l.seen.unpack(a.Seen, s.end.Load()); err != nil {
		return err
	}
	for phase := range phases {
		l.duplicated[phase].Store(a.Duplicated[phase])
		l.reordered[phase].Store(a.Reordered[phase])
	}
	l.first.Store(a.First)
	l.last.Store(a.Last)
	return l.enterKeys(a.Keys)
}

// checkAccount returns an error unless the trial has the ledger of an account and its counts and times are possible.
func (t *Trial) checkAccount(a *Account) error {
	if a.Producer < 0 || a.Producer >= len(t.streams) || a.Subscription < 0 || a.Subscription >= t.subscriptions {
		return fmt.Errorf("an account of producer %d and subscription %d; the trial has %d producers and %d subscriptions, numbered from 0",
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
		return nil
	}
	return fmt.Errorf("the account of producer %d and subscription %d has %s", a.Producer, a.Subscription, problem)
}

// packKeys returns the keys of which a message came, as a packed bitmap.
func (l *ledger) packKeys() []byte {
	keyed := l.keyed.Load()
	if keyed == nil {
		return nil
	}
	var keys bitmap
	for k := range *keyed {
		if (*keyed)[k].Load() > 0 {
			keys.add(uint64(k))
		}
	}
	return keys.pack()
}

// enterKeys marks the keys of a packed bitmap as received.
func (l *ledger) enterKeys(packed []byte) error {
	for r, err := range runsOf(packed) {
		if err != nil {
			return err
		}
		if r.kind == emptyRun {
			continue
		}
		for i := range r.n {
			for w := r.word(i); w != 0; w &= w - 1 { // clears the lowest bit
				key := (r.first+i)*64 + uint64(bits.TrailingZeros64(w))
				if key >= uint64(l.keys) {
					return errKey
				}
				l.nextOf(int(key)).Store(1)
			}
		}
	}
	return nil
}
