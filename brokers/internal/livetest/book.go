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

// Book is the receipts and the sinks of a test. It lends slots, and takes down by payload how every message ended and
// what each subscription received. Of messages with the same payload the fate of the last one counts. Safe for use by
// several goroutines.
type Book struct {
	mu       sync.Mutex
	free     []uint32
	carried  map[uint32]string // by slot, what is in flight
	fates    map[string]error
	received [][]string       // by subscription
	times    []map[string]int // the same
	count    Count            // without what follows from the others
	arrived  int              // what is acknowledged and received, by every subscription
	foreign  []string         // completions of slots that were not in flight
}

// NewBook makes a book of that many slots; receiving at no subscription counts as none lost. The test fails where a slot
// is completed that is not in flight.
func NewBook(t *testing.T, slots, subscriptions int) *Book {
	b := &Book{carried: map[uint32]string{}, fates: map[string]error{}, received: make([][]string, subscriptions)}
	for range subscriptions {
		b.times = append(b.times, map[string]int{})
	}
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

// Send hands messages to p, each in the slot that was free last: what a client keeps by slot is soon met again. It waits
// for free slots, and returns an error where none is completed in time, or that of p.
func (b *Book) Send(ctx context.Context, p driver.Producer, messages ...driver.Message) error {
	for i := range messages {
		if !Within(Patience, func() bool { return b.lend(&messages[i]) }) {
			return fmt.Errorf("no slot was completed for %v", Patience)
		}
	}
	return p.Send(ctx, messages)
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
	b.enter(payload, -1)
	delete(b.fates, payload)
	return true
}

// enter counts payload's fate, or with -1 takes it back.
func (b *Book) enter(payload string, n int) {
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
		b.enter(payload, -1)
		b.fates[payload] = err
		b.enter(payload, 1)
		if err != nil {
			b.count.LastErr = err
		}
	}
}

// Sink is where a subscription's messages are delivered to.
func (b *Book) Sink(subscription int) driver.Sink { return shelf{b, subscription} }

type shelf struct {
	*Book
	subscription int
}

func (s shelf) Deliver(batch [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range batch {
		payload := string(p)
		s.received[s.subscription] = append(s.received[s.subscription], payload)
		s.times[s.subscription][payload]++
		switch s.times[s.subscription][payload] {
		case 1:
			s.count.Received++
			if err, known := s.fates[payload]; known && err == nil {
				s.arrived++
			}
		case 2:
			s.count.Repeated++
		}
	}
}

// Received is what a subscription has received, in the order in which it came.
func (b *Book) Received(subscription int) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.received[subscription])
}

// Fates waits until the fates of payloads are known, and joins what failed.
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
