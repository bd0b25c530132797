package measure

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/brokermark/brokermark/internal/hist"
)

// Receipts is what the consumers of a trial have received so far, as plain data that another process can be told. Its
// counters only rise.
type Receipts struct {
	Received, Corrupted, Stale, Untimed Tally
	// Latencies by phase; nil: unchanged since the Receipts before.
	EndToEnd, Service *[phases]hist.Snapshot `json:",omitempty"`
}

// Receipts reads the counters, and with latencies the histograms; it may be called at any time.
func (t *Trial) Receipts(latencies bool) Receipts {
	var r Receipts
	for i := range t.lanes {
		l := &t.lanes[i]
		for phase := range phases {
			r.Received[phase] += l.received[phase].Load()
			r.Corrupted[phase] += l.corrupted[phase].Load()
			r.Stale[phase] += l.stale[phase].Load()
			r.Untimed[phase] += l.untimed[phase].Load()
		}
	}
	if !latencies {
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

// Absorb books what consumers elsewhere have received since was, the Receipts before (at first the zero value), and
// returns what the next ones are to be compared with. It belongs to one goroutine.
func (t *Trial) Absorb(was, now Receipts) Receipts {
	l := t.lane(0)
	for phase := range phases {
		l.corrupted[phase].Add(now.Corrupted[phase] - was.Corrupted[phase])
		l.stale[phase].Add(now.Stale[phase] - was.Stale[phase])
		l.untimed[phase].Add(now.Untimed[phase] - was.Untimed[phase])
		l.received[phase].Add(now.Received[phase] - was.Received[phase])
	}
	if now.EndToEnd == nil || now.Service == nil {
		now.EndToEnd, now.Service = was.EndToEnd, was.Service
		return now
	}
	var none [phases]hist.Snapshot
	endToEnd, service := &none, &none
	if was.EndToEnd != nil {
		endToEnd, service = was.EndToEnd, was.Service
	}
	for phase := range phases {
		l.endToEnd[phase].Grow(endToEnd[phase], now.EndToEnd[phase])
		l.endToEndService[phase].Grow(service[phase], now.Service[phase])
	}
	return now
}

// Account is the ledger of one stream and subscription, as plain data.
type Account struct {
	Producer, Subscription int
	Seen                   []byte // which messages came; see bitmap.pack
	Duplicated, Reordered  Tally
}

// Accounts are those ledgers in which something was booked.
func (t *Trial) Accounts() []Account {
	var out []Account
	for i := range t.streams {
		for j := range t.streams[i].ledgers {
			l := &t.streams[i].ledgers[j]
			if l.seen.pages.Load() == nil {
				continue
			}
			a := Account{Producer: i, Subscription: j, Seen: l.seen.pack()}
			for phase := range phases {
				a.Duplicated[phase], a.Reordered[phase] = l.duplicated[phase].Load(), l.reordered[phase].Load()
			}
			out = append(out, a)
		}
	}
	return out
}

// Enter takes over accounts of consumers elsewhere. To enter later ones of the same ledgers once more is no harm.
func (t *Trial) Enter(accounts []Account) error {
	for _, a := range accounts {
		if a.Producer < 0 || a.Producer >= len(t.streams) || a.Subscription < 0 || a.Subscription >= t.subscriptions {
			return fmt.Errorf("an account of producer %d and subscription %d, which are not there", a.Producer, a.Subscription)
		}
		l := &t.streams[a.Producer].ledgers[a.Subscription]
		if err := l.seen.unpack(a.Seen, (t.streams[a.Producer].end.Load()+63)/64); err != nil {
			return fmt.Errorf("the account of producer %d and subscription %d: %w", a.Producer, a.Subscription, err)
		}
		for phase := range phases {
			l.duplicated[phase].Store(a.Duplicated[phase])
			l.reordered[phase].Store(a.Reordered[phase])
		}
	}
	return nil
}

// A packed bitmap is a row of runs of words, each an unsigned varint of its length and, in the lowest two bits, its kind.
// The words of a mixed run follow it, little endian. Empty words at the end are left out.
const (
	emptyRun = iota
	fullRun
	mixedRun
	kindBits = 2
)

// pack is b as plain data.
func (b *bitmap) pack() []byte {
	var out, mixed []byte
	kind, n := emptyRun, uint64(0)
	flush := func() {
		if n > 0 {
			out = append(binary.AppendUvarint(out, n<<kindBits|uint64(kind)), mixed...)
		}
		n, mixed = 0, mixed[:0]
	}
	for _, p := range *b.pages.Load() {
		words := *p.words.Load()
		for i := range words {
			w := words[i].Load()
			k := mixedRun
			switch w {
			case 0:
				k = emptyRun
			case ^uint64(0):
				k = fullRun
			}
			if k != kind {
				flush()
				kind = k
			}
			if n++; k == mixedRun {
				mixed = binary.LittleEndian.AppendUint64(mixed, w)
			}
		}
	}
	if kind != emptyRun {
		flush()
	}
	return out
}

var (
	errPacked = errors.New("damaged: its runs of messages don't add up")
	errUnsent = errors.New("it holds messages that were never sent")
)

// unpack adds the members of a packed bitmap that has at most so many words.
func (b *bitmap) unpack(packed []byte, most uint64) error {
	for at := uint64(0); len(packed) > 0; {
		head, size := binary.Uvarint(packed)
		n, kind := head>>kindBits, head&(1<<kindBits-1)
		if size <= 0 || n == 0 || kind > mixedRun {
			return errPacked
		}
		if n > most || at+n > most {
			return errUnsent
		}
		packed = packed[size:]
		switch kind {
		case fullRun:
			for i := range n {
				b.addWord((at+i)<<6, ^uint64(0))
			}
		case mixedRun:
			if uint64(len(packed)) < 8*n {
				return errPacked
			}
			for i := range n {
				b.addWord((at+i)<<6, binary.LittleEndian.Uint64(packed[8*i:]))
			}
			packed = packed[8*n:]
		}
		at += n
	}
	return nil
}
