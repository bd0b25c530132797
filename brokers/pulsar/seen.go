package pulsar

import (
	"sync"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

// seen are the places in one topic whose messages one subscription has delivered, whichever consumer did. Where nothing
// may be delivered twice they are needed: acknowledgements are gathered, and the broker stores a subscription's place
// only now and then, so one that is killed delivers messages again, as if for the first time.
type seen struct {
	mu      sync.Mutex
	ledgers map[ledgerKey]*ledger
	newest  *ledger // of the last message
	key     ledgerKey
	again   int
}

type ledgerKey struct {
	partition int32
	ledger    int64
}

// ledger is a part of a topic. Its entries are numbered from 0 without gaps, each a batch of messages.
type ledger struct {
	all   int64            // entries before this one are delivered whole
	ahead map[int64]*batch // and these in part, or whole beyond a gap
}

type batch struct {
	left int32 // messages not yet delivered
	done []uint64
}

func (s *session) seenBy(c driver.ConsumerConfig) *seen {
	c.ID = 0 // the consumers of a subscription share it
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[c] == nil {
		s.seen[c] = &seen{ledgers: map[ledgerKey]*ledger{}}
	}
	return s.seen[c]
}

// first tells whether the message at id comes for the first time.
func (s *seen) first(id client.MessageID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := ledgerKey{id.PartitionIdx(), id.LedgerID()}
	if s.newest == nil || s.key != key {
		l := s.ledgers[key]
		if l == nil {
			l = &ledger{ahead: map[int64]*batch{}}
			s.ledgers[key] = l
		}
		s.newest, s.key = l, key
	}
	if s.newest.first(id.EntryID(), max(0, id.BatchIdx()), max(1, id.BatchSize())) {
		return true
	}
	s.again++
	return false
}

func (l *ledger) first(entry int64, index, size int32) bool {
	if entry < l.all {
		return false
	}
	b := l.ahead[entry]
	if b == nil {
		b = &batch{left: size, done: make([]uint64, (size+63)/64)}
		l.ahead[entry] = b
	}
	word, bit := &b.done[index/64], uint64(1)<<(index%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	b.left--
	for ; b != nil && b.left == 0 && entry == l.all; b = l.ahead[entry] {
		delete(l.ahead, entry)
		l.all++
		entry = l.all
	}
	return true
}

// repeated counts the messages that came again.
func (s *seen) repeated() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}
