package measure

import "fmt"

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
