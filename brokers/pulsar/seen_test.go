package pulsar

import (
	"math/rand/v2"
	"testing"

	client "github.com/apache/pulsar-client-go/pulsar"
)

// place is a message's id, as the tracker sees it.
type place struct {
	client.MessageID
	partition, index, size int32
	ledger, entry          int64
}

func (p place) PartitionIdx() int32 { return p.partition }
func (p place) BatchIdx() int32     { return p.index }
func (p place) BatchSize() int32    { return p.size }
func (p place) LedgerID() int64     { return p.ledger }
func (p place) EntryID() int64      { return p.entry }

func TestEveryPlaceIsDeliveredOnceWhateverComesAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []place
	for partition := range int32(3) {
		for ledger := range int64(2) {
			for entry := range int64(50) {
				size := 1 + random.Int32N(130)
				for index := range size {
					all = append(all, place{partition: partition, ledger: ledger, entry: entry, index: index, size: size})
				}
			}
		}
	}
	s := &seen{ledgers: map[ledgerKey]*ledger{}}
	delivered := map[place]bool{}
	repeats := 0
	see := func(p place) {
		if s.first(p) == delivered[p] {
			t.Fatalf("%+v: delivered before: %v, the tracker says otherwise", p, delivered[p])
		}
		if delivered[p] {
			repeats++
		}
		delivered[p] = true
	}
	for _, p := range all[:len(all)/2] { // in order, as an only consumer gets them
		see(p)
	}
	for range 2 * len(all) { // in any order, as several get them after a restart
		see(all[random.IntN(len(all))])
	}
	for _, p := range all {
		see(p)
	}
	if got := s.repeated(); got != repeats {
		t.Errorf("%d repeats were counted, there were %d", got, repeats)
	}
	for key, l := range s.ledgers {
		if len(l.partial) > 0 {
			t.Errorf("%+v: %d entries are kept though they are delivered whole; memory grows with the run", key, len(l.partial))
		}
	}
}

func TestMessagesOutsideABatchAreTracked(t *testing.T) {
	s := &seen{ledgers: map[ledgerKey]*ledger{}}
	single := place{partition: -1, ledger: 7, entry: 0, index: -1, size: 0}
	if !s.first(single) || s.first(single) {
		t.Error("a message without a batch isn't recognised the second time only")
	}
}

func TestAnEntryThatNeverComesCostsNoMemoryForThoseAfterIt(t *testing.T) {
	l := &ledger{partial: map[uint64]*batch{}}
	l.first(0, 0, 1)
	for entry := range uint64(1000) {
		for index := range int32(2) {
			if !l.first(2+entry, index, 2) {
				t.Fatalf("message %d of entry %d is not new", index, 2+entry)
			}
		}
	}
	if len(l.partial) > 0 {
		t.Errorf("%d entries are kept; want none", len(l.partial))
	}
}
