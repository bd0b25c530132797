package amqp10

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"github.com/brokermark/brokermark/brokers/internal/spans"
	"github.com/brokermark/brokermark/internal/driver"
)

// identities are the identities of one producer's messages: its name, and a number that a message keeps when it is sent again.
type identities struct {
	producer string
	last     uint64
	numbers  []uint64 // by slot
}

// newIdentities returns identities with a name that no other producer has, in this run or an earlier one: a broker remembers.
func newIdentities(slots int) *identities {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return &identities{producer: hex.EncodeToString(random[:]), numbers: make([]uint64, slots)}
}

// enter numbers the messages that are sent for the first time, with or without a connection.
func (i *identities) enter(batch []driver.Message) {
	for _, m := range batch {
		if !m.Resent {
			i.last++
			i.numbers[m.Slot] = i.last
		}
	}
}

// of returns the identity of the message in slot.
func (i *identities) of(slot uint32) string {
	return i.producer + "-" + strconv.FormatUint(i.numbers[slot], 10)
}

// seen are the identities that the consumers of one subscription have delivered.
type seen struct {
	mu      sync.Mutex
	numbers map[string]*spans.Set // by producer
}

// first reports whether an identity comes for the first time. A message without one always does.
func (s *seen) first(identity any) bool {
	text, _ := identity.(string)
	producer, number, _ := strings.Cut(text, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbers[producer] == nil {
		s.numbers[producer] = &spans.Set{}
	}
	return s.numbers[producer].Add(n)
}

// seenBy returns the identities that a subscription has seen, or nil if messages have none.
func (d *session) seenBy(topic, subscription int) *seen {
	if d.identity == "" {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := [2]int{topic, subscription}
	if d.seen[key] == nil {
		d.seen[key] = &seen{numbers: map[string]*spans.Set{}}
	}
	return d.seen[key]
}
