package drivertest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// tally is what one subscription of one topic has received, through any of its consumers.
type tally struct {
	topic int

	mu      sync.Mutex
	counts  map[identity]int
	carries bool           // messages carry headers
	apart   int            // see Suite.StoredApart; 0: all messages have one order
	last    map[[2]int]int // highest sequence by sender and class
	late    int            // messages that came for the first time after a later one of the same sender and class

	keys      int            // 0: order by key is not checked
	lastInKey map[[2]int]int // highest sequence by sender and key
	lateInKey int

	faults faults
}

func newTally(topic, apart int, carries bool) *tally {
	return &tally{topic: topic, carries: carries, counts: map[identity]int{}, apart: apart, last: map[[2]int]int{}, lastInKey: map[[2]int]int{}}
}

func (a *tally) received() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.counts)
}

// class is 1 for messages that the broker stores separately, and 0 for the others.
func (a *tally) class(id identity) int {
	if a.apart > 0 && id.size() >= a.apart {
		return 1
	}
	return 0
}

// lastOf is the highest sequence number that has arrived from a sender.
func (a *tally) lastOf(sender int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.last[[2]int{sender, 0}], a.last[[2]int{sender, 1}])
}

func (a *tally) times(id identity) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[id]
}

func (a *tally) deliveries() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, times := range a.counts {
		n += times
	}
	return n
}

func (a *tally) add(id identity) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[id]++
	if a.keys > 0 {
		at := [2]int{id.sender(), id.key(a.keys)}
		if last, ok := a.lastInKey[at]; ok && id.sequence() < last {
			a.lateInKey++
		} else {
			a.lastInKey[at] = id.sequence()
		}
	}
	at := [2]int{id.sender(), a.class(id)}
	if last, ok := a.last[at]; ok && id.sequence() < last {
		if a.counts[id] == 1 {
			a.late++
		}
		return
	}
	a.last[at] = id.sequence()
}

// consumer is one call of Consume.
type consumer struct {
	id       int
	wanted   []string       // headers
	tally    *tally         // of its topic, or of the first topic
	also     map[int]*tally // of further topics
	scratch  []byte
	inside   atomic.Bool
	readies  atomic.Int32
	ready    chan struct{}
	returned chan struct{} // closed when Consume has returned
	err      error         // what it returned
	cancel   context.CancelFunc
}

// Deliver implements driver.Sink.
func (c *consumer) Deliver(batch []driver.Received) {
	if !c.inside.CompareAndSwap(false, true) {
		c.tally.faults.add("Deliver was called while another Deliver of the same consumer was running")
		return
	}
	defer c.inside.Store(false)
	if c.hasEnded() {
		c.tally.faults.add("Deliver was called after Consume had returned")
	}
	for _, m := range batch {
		id, err := examine(m.Payload, c.scratch)
		if err == nil && c.wanted != nil {
			err = examineHeaders(id, m, c.wanted, c.tally.carries)
		}
		switch {
		case err != nil:
			c.tally.faults.add("%v", err)
		case id.topic() == c.tally.topic:
			c.tally.add(id)
		case c.also[id.topic()] != nil:
			c.also[id.topic()].add(id)
		default:
			c.tally.faults.add("%v was delivered by topic %d", id, c.tally.topic)
		}
	}
}

// startConsumer begins to consume and returns at once.
func startConsumer(drv driver.Driver, cfg driver.ConsumerConfig, a *tally, also ...*tally) *consumer {
	ctx, cancel := context.WithCancel(context.Background())
	c := &consumer{
		id: cfg.ID, wanted: cfg.Headers, tally: a, also: map[int]*tally{}, scratch: make([]byte, largest),
		ready: make(chan struct{}), returned: make(chan struct{}), cancel: cancel,
	}
	for _, other := range also {
		c.also[other.topic] = other
		cfg.Also = append(cfg.Also, other.topic)
	}
	go func() {
		defer close(c.returned)
		c.err = drv.Consume(ctx, cfg, c, func() {
			if c.readies.Add(1) == 1 {
				close(c.ready)
				return
			}
			a.faults.add("ready was called a second time")
		})
	}()
	return c
}

// awaitRefusal waits until the consumer is ready, or has ended because the driver refuses a second consumer.
func (c *consumer) awaitRefusal() bool {
	select {
	case <-c.ready:
	case <-c.returned:
		return refused(c.err)
	case <-time.After(patience):
	}
	return false
}

func (c *consumer) awaitReady(t *testing.T) {
	t.Helper()
	select {
	case <-c.ready:
	case <-c.returned:
		t.Fatalf("Consume ended before it was ready: %v", c.err)
	case <-time.After(patience):
		t.Fatalf("a consumer was not ready after %v", patience)
	}
}

// hasEnded reports whether Consume has returned.
func (c *consumer) hasEnded() bool {
	select {
	case <-c.returned:
		return true
	default:
		return false
	}
}

// stop cancels the consumer; healthy means that its broker lives, so that only nil is a correct result.
func (c *consumer) stop(t *testing.T, healthy bool) {
	t.Helper()
	c.cancel()
	select {
	case <-c.returned:
		if healthy && c.err != nil {
			t.Errorf("Consume ended with %q after cancel; want nil", c.err)
		}
	case <-time.After(cancelBound):
		t.Errorf("Consume had not returned %v after cancel", cancelBound)
	}
}
