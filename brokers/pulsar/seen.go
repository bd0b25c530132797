package pulsar

import (
	"sync"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/spans"
	"github.com/brokermark/brokermark/internal/driver"
)

// seen are the places in one topic whose messages one subscription has delivered, by any consumer. They are needed if nothing may
// be delivered twice: acknowledgements are grouped, and the broker stores a subscription's place only now and then, so a killed
// one delivers messages again, as if for the first time.
type seen struct {
	mu      sync.Mutex
	ledgers map[ledgerKey]*ledger
	newest  *ledger // of the newest message
	key     ledgerKey
	again   int
}

type ledgerKey struct {
	partition int32
	ledger    int64
}

// ledger is a part of a topic. Its entries are numbered from 0, each is a batch of messages. Some never come: those that the
// broker's limits remove from a topic.
type ledger struct {
	whole   spans.Set         // entries that are delivered completely
	partial map[uint64]*batch // entries that are delivered in part
}

type batch struct {
	left int32 // messages not yet delivered
	done []uint64
}

func (s *session) seenBy(c driver.ConsumerConfig) *seen {
	c.ID = 0 // the same for all consumers of a subscription
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[c.Seat()] == nil {
		s.seen[c.Seat()] = &seen{ledgers: map[ledgerKey]*ledger{}}
	}
	return s.seen[c.Seat()]
}

// first reports whether the message at id comes for the first time.
func (s *seen) first(id client.MessageID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := ledgerKey{id.PartitionIdx(), id.LedgerID()}
	if s.newest == nil || s.key != key {
		l := s.ledgers[key]
		if l == nil {
			l = &ledger{partial: map[uint64]*batch{}}
			s.ledgers[key] = l
		}
		s.newest, s.key = l, key
	}
	if s.newest.first(uint64(id.EntryID()), max(0, id.BatchIdx()), max(1, id.BatchSize())) {
		return true
	}
	s.again++
	return false
}

func (l *ledger) first(entry uint64, index, size int32) bool {
	if l.whole.Has(entry) {
		return false
	}
	b := l.partial[entry]
	if b == nil {
		b = &batch{left: size, done: make([]uint64, (size+63)/64)}
		l.partial[entry] = b
	}
	word, bit := &b.done[index/64], uint64(1)<<(index%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	if b.left--; b.left == 0 {
		delete(l.partial, entry)
		l.whole.Add(entry)
	}
	return true
}

// repeated counts the redelivered messages.
func (s *seen) repeated() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}
