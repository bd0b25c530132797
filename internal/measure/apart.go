package measure

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/wire"
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
	First, Last            int64  // when the first and the last came, ns on the clock's axis there
	Keys                   []byte `json:",omitempty"` // which keys came, where keys carry the order; see bitmap.pack
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
			a := Account{Producer: i, Subscription: j, Seen: l.seen.pack(), First: l.first.Load(), Last: l.last.Load(), Keys: l.packKeys()}
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
		l.first.Store(a.First)
		l.last.Store(a.Last)
		if err := l.enterKeys(a.Keys); err != nil {
			return fmt.Errorf("the account of producer %d and subscription %d: %w", a.Producer, a.Subscription, err)
		}
	}
	return nil
}

// packKeys are the keys of which something came.
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

// enterKeys takes over that something came of these keys, elsewhere.
func (l *ledger) enterKeys(packed []byte) error {
	return eachRun(packed, func(r packedRun) error {
		if r.kind == emptyRun {
			return nil
		}
		for i := range r.n {
			for w := r.word(i); w != 0; w &= w - 1 {
				k := (r.at+i)<<6 + uint64(bits.TrailingZeros64(w))
				if k >= uint64(l.keys) {
					return errKey
				}
				l.nextOf(int(k)).Store(1)
			}
		}
		return nil
	})
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
	if b.pages.Load() == nil {
		return nil
	}
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
	errKey    = errors.New("it holds keys that are not there")
)

// unpack adds the members of a packed bitmap that has at most so many words.
func (b *bitmap) unpack(packed []byte, most uint64) error {
	return eachRun(packed, func(r packedRun) error {
		if r.at+r.n > most {
			return errUnsent
		}
		if r.kind != emptyRun {
			for i := range r.n {
				b.addWord((r.at+i)<<6, r.word(i))
			}
		}
		return nil
	})
}

// packedRun is n words of one kind, the first of which is word at.
type packedRun struct {
	at, n uint64
	kind  uint64
	mixed []byte
}

// word is the i-th word of the run.
func (r packedRun) word(i uint64) uint64 {
	switch r.kind {
	case emptyRun:
		return 0
	case fullRun:
		return ^uint64(0)
	}
	return binary.LittleEndian.Uint64(r.mixed[8*i:])
}

// mostWords is how many a bitmap of all sequence numbers has.
const mostWords = (wire.MaxSeq + 1) / 64

// eachRun visits the runs of a packed bitmap until visit returns an error.
func eachRun(packed []byte, visit func(packedRun) error) error {
	for at := uint64(0); len(packed) > 0; {
		head, size := binary.Uvarint(packed)
		r := packedRun{at: at, n: head >> kindBits, kind: head & (1<<kindBits - 1)}
		if size <= 0 || r.n == 0 || r.kind > mixedRun {
			return errPacked
		}
		if r.n > mostWords || at+r.n > mostWords {
			return errUnsent
		}
		packed = packed[size:]
		if r.kind == mixedRun {
			if uint64(len(packed)) < 8*r.n {
				return errPacked
			}
			r.mixed, packed = packed[:8*r.n], packed[8*r.n:]
		}
		if err := visit(r); err != nil {
			return err
		}
		at += r.n
	}
	return nil
}
