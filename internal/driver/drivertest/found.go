package drivertest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// Found uses a topic of another application: another driver, its owner, has made it and sent to it. All that was there before
// must be there afterwards. name returns the name by which other applications know the first topic of a topology that a driver
// has made; nil: the topic's own name.
func Found(t *testing.T, s Suite, target driver.Target, g driver.Guarantee, name func(made driver.Topology) string) {
	r, kind := &run{suite: s, target: target}, s.Kind
	if name == nil {
		name = func(made driver.Topology) string { return made.Topics[0].Name }
	}
	read := shape{topics: 1, subscriptions: 1, consumers: 1}
	unread := read
	if !kind.Transient {
		unread.consumers = 0
	}
	owner := r.open(t, g, unread)
	owner.sendAll(t, sendMax)
	guestOf := func(past bool) *session {
		topology := newTopology(read)
		topology.Topics[0].Name, topology.Found, topology.Past = name(owner.topology), true, past
		return r.reopen(t, g, read, topology)
	}
	guest := guestOf(false)
	guest.senders = 1 // its messages differ from the owner's
	guest.sendAll(t, sendMax)
	guest.caughtUp()
	t.Run("a subscription gets what comes after it was made", func(t *testing.T) { requireCounts(t, guest, exact) })
	both := slices.Concat(owner.all, guest.all)
	holder, holds := guest.drv.(driver.Holder)
	if holds {
		t.Run("the broker says how many messages the topic holds", func(t *testing.T) { requireHolds(t, holder, 2*sendMax) })
	}
	guest.leave(t)
	if err := kind.Found(r.config(t, g, target), driver.Shape{Topic: name(owner.topology), Past: true}); err == nil {
		t.Run("a subscription gets what was there before, too", func(t *testing.T) {
			past := guestOf(true)
			past.all = both
			past.caughtUp()
			requireCounts(t, past, exact)
			past.leave(t)
		})
	}
	if holds {
		t.Run("a topic that is not there, or is not as the topology says, is refused and not made", func(t *testing.T) { r.foundWrong(t, g, name(owner.topology)) })
	}
	t.Run("its owner has all of its messages", func(t *testing.T) {
		reader := owner
		if unread.consumers == 0 {
			made := owner.topology
			made.Existing = true
			reader = r.reopen(t, g, read, made)
		}
		reader.all = both
		reader.caughtUp()
		requireCounts(t, reader, exact)
		if reader != owner {
			reader.close(t, true)
		}
	})
	owner.leave(t)
}

// leave cleans up and closes a session.
func (s *session) leave(t *testing.T) {
	t.Helper()
	for _, c := range s.consumers {
		c.cancel()
		c.stop(t, true)
	}
	if cleaner, ok := s.drv.(driver.Cleaner); ok {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := cleaner.Clean(ctx); err != nil {
			t.Errorf("Clean: %v", err)
		}
	}
	s.close(t, true)
}

func requireHolds(t *testing.T, h driver.Holder, want int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if got, err := h.Holds(ctx, 0); err != nil || got != want {
		t.Errorf("it holds %d messages (%v), want %d", got, err, want)
	}
}

// foundWrong sets up topics of another application that don't match.
func (r *run) foundWrong(t *testing.T, g driver.Guarantee, there string) {
	for _, c := range []struct {
		name       string
		partitions int
	}{{there + "x", 1}, {there + "x", 1}, {there, 2}} /* twice: asking for it must not have made it */ {
		topology := newTopology(shape{topics: 1, subscriptions: 1})
		topology.Topics[0].Name, topology.Topics[0].Partitions, topology.Found = c.name, c.partitions, true
		if err := r.openAndSetUp(t, g, topology); !errors.As(err, new(*driver.ErrUnsupported)) {
			t.Errorf("topic %s with %d partitions: %v; want a refusal", c.name, c.partitions, err)
		}
	}
}
