package livetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// Book is the receipts and the sinks of a test. It lends slots, and records by payload how every message ended and what
// each subscription received. If several messages have the same payload, the fate of the last one counts. Safe for use by
// several goroutines.
type Book struct {
	mu       sync.Mutex
	free     []uint32
	carried  map[uint32]string // by slot, the messages in flight
	fates    map[string]error
	received [][]string       // by subscription
	times    []map[string]int // the same
	number   map[string]int   // by payload, when it was sent first, from 1
	furthest []int            // by subscription, the highest number received
	count    Count            // without the values that follow from the others
	arrived  int              // messages acknowledged and received by every subscription
	foreign  []string         // completions of slots that were not in flight
	held     string           // why the broker takes no messages now
}

// NewBook makes a book of that many slots; receiving at no subscription counts as none lost. The test fails where a slot
// is completed that is not in flight.
func NewBook(t *testing.T, slots, subscriptions int) *Book {
	b := emptyBook(subscriptions)
	for slot := range slots {
		b.free = append(b.free, uint32(slots-1-slot))
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, f := range b.foreign {
			t.Error(f)
		}
	})
	return b
}

func emptyBook(subscriptions int) *Book {
	b := &Book{
		carried: map[uint32]string{}, fates: map[string]error{}, number: map[string]int{},
		received: make([][]string, subscriptions), furthest: make([]int, subscriptions),
	}
	for range subscriptions {
		b.times = append(b.times, map[string]int{})
	}
	return b
}

// Refused implements driver.Objections: what has no outcome is left out of the book.
func (*Book) Refused(error) {}

// Held implements driver.Objections.
func (b *Book) Held(why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = why
}

// HeldWhy is why the broker takes no messages now; empty: it takes them.
func (b *Book) HeldWhy() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// Send hands messages to p, each in the slot that was free last: what a client keeps by slot is soon met again. It waits
// for free slots, and returns an error where none is completed in time, or that of p.
func (b *Book) Send(ctx context.Context, p driver.Producer, messages ...driver.Message) error {
	for len(messages) > 0 {
		if !Within(Patience, func() bool { return b.lend(&messages[0]) }) {
			return fmt.Errorf("no slot was completed for %v", Patience)
		}
		n := 1
		for n < len(messages) && b.lend(&messages[n]) {
			n++
		}
		if err := p.Send(ctx, messages[:n]); err != nil {
			return err
		}
		messages = messages[n:]
	}
	return nil
}

func (b *Book) lend(m *driver.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.free) - 1
	if last < 0 {
		return false
	}
	m.Slot, b.free = b.free[last], b.free[:last]
	payload := string(m.Payload)
	b.carried[m.Slot] = payload
	b.count.Sent++
	if b.number[payload] == 0 {
		b.number[payload] = b.count.Sent
	}
	b.enterFate(payload, -1)
	delete(b.fates, payload)
	return true
}

// enterFate counts payload's fate, or with -1 takes it back.
func (b *Book) enterFate(payload string, n int) {
	err, known := b.fates[payload]
	switch {
	case !known:
	case err != nil:
		b.count.Failed += n
	default:
		b.count.Acked += n
		for _, times := range b.times {
			if times[payload] > 0 {
				b.arrived += n
			}
		}
	}
}

// Done implements driver.Receipts.
func (b *Book) Done(slots []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slots {
		payload, ok := b.carried[s]
		if !ok {
			b.foreign = append(b.foreign, fmt.Sprintf("slot %d was completed (%v) while nothing was in it", s, err))
			continue
		}
		delete(b.carried, s)
		b.free = append(b.free, s)
		b.enterFate(payload, -1)
		b.fates[payload] = err
		b.enterFate(payload, 1)
		if err != nil {
			b.count.LastErr = err
		}
	}
}

// Sink returns the sink for a subscription's messages.
func (b *Book) Sink(subscription int) driver.Sink { return shelf{b, subscription} }

type shelf struct {
	*Book
	subscription int
}

func (s shelf) Deliver(batch []driver.Received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range batch {
		s.enterArrival(s.subscription, string(m.Payload))
	}
}

func (b *Book) enterArrival(subscription int, payload string) {
	b.received[subscription] = append(b.received[subscription], payload)
	b.times[subscription][payload]++
	switch b.times[subscription][payload] {
	case 1:
		b.count.Received++
		if err, known := b.fates[payload]; known && err == nil {
			b.arrived++
		}
		if n := b.number[payload]; n > 0 && n < b.furthest[subscription] {
			b.count.Late++
		}
		b.furthest[subscription] = max(b.furthest[subscription], b.number[payload])
	case 2:
		b.count.Repeated++
	}
}

// Received returns what a subscription has received, in order of arrival.
func (b *Book) Received(subscription int) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.received[subscription])
}

// Fates waits until the fates of payloads are known, and joins the errors.
func (b *Book) Fates(t *testing.T, payloads ...string) (failed error) {
	t.Helper()
	for _, p := range payloads {
		var fate error
		Eventually(t, fmt.Sprintf("the fate of %q", p), func() (known bool) {
			b.mu.Lock()
			defer b.mu.Unlock()
			fate, known = b.fates[p]
			return known
		})
		failed = errors.Join(failed, fate)
	}
	return failed
}

// Count is what a book holds.
type Count struct {
	Sent, Pending int   // Pending is without a fate yet
	Acked, Failed int   // payloads
	LastErr       error // of a message that failed
	Received      int   // different payloads, added up over the subscriptions
	Repeated      int   // of them, those that came more than once
	Late          int   // of them, those that came for the first time after something that was sent later
	Lost          int   // acknowledged, and not received by a subscription; each of several counts
}

// Count counts.
func (b *Book) Count() Count {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.count
	c.Pending, c.Lost = len(b.carried), c.Acked*len(b.times)-b.arrived
	return c
}
