// Package consumer takes rides from a broker, keeps every skier's record, and answers questions about it over HTTP. It
// knows nothing of the clients that posted them.
package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
)

// State is every skier's record. Its methods may be called from any goroutine, but none after Close.
type State interface {
	// Apply counts each ride once, whatever was delivered before, and returns how many were new. When it returns, the
	// counted rides are as safe as the state can make them.
	Apply(rides []ride.Ride) (fresh int, err error)
	Vertical(q server.Query) (int64, error)
	Totals() (Totals, error)
	// IDs calls each for every counted ride until each fails.
	IDs(each func(ride.ID) error) error
	Close() error
}

// Totals of a state: Counted is the sum over skiers, Rides the number of different rides. They differ where a ride was
// counted twice, or not in full.
type Totals struct{ Rides, Skiers, Counted int64 }

// Stats counts what a consumer has received since it started. All of it ends with the process, except Totals of a durable state.
type Stats struct {
	Totals
	Began     int64         // when this process began to consume, ns on the clock's axis; after a restart it is another time
	Delivered int64         // messages, those that came again included
	Again     int64         // rides that were counted already
	Corrupted int64         // messages that are no ride
	Latency   hist.Snapshot // from when a request was due until its ride was counted
	Err       string        `json:",omitempty"` // why a thread has ended
}

// Consumer is a running consumer.
type Consumer struct {
	state     State
	began     int64 // ns on the clock's axis
	threads   int
	ready     atomic.Int64
	delivered atomic.Int64
	again     atomic.Int64
	corrupted atomic.Int64
	latency   hist.Histogram
	running   sync.WaitGroup
	broken    chan error
	failed    atomic.Pointer[string]
}

// Start consumes topic 0 of d with this number of threads until ctx ends; then call Wait. Start returns when all threads
// are registered with the broker.
func Start(ctx context.Context, d driver.Driver, s State, threads int) (*Consumer, error) {
	c := &Consumer{state: s, began: clock.Now(), threads: threads, broken: make(chan error, threads)}
	ready := make(chan struct{}, threads)
	for i := range threads {
		c.running.Go(func() {
			registered := sync.OnceFunc(func() { c.ready.Add(1); ready <- struct{}{} })
			err := d.Consume(ctx, driver.ConsumerConfig{ID: i, Of: threads}, &sink{of: c}, registered)
			if ctx.Err() == nil {
				if err == nil {
					err = errors.New("ended by itself")
				}
				c.fail(fmt.Errorf("consumer thread %d: %w", i+1, err))
			}
		})
	}
	for range threads {
		select {
		case <-ready:
		case err := <-c.broken:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c, nil
}

// fail ends the consumer: a ride that it can't count must not be acknowledged.
func (c *Consumer) fail(err error) {
	text := err.Error()
	c.failed.CompareAndSwap(nil, &text)
	select {
	case c.broken <- err:
	default: // enough have said so
	}
}

// Broken carries why a thread has ended unasked.
func (c *Consumer) Broken() <-chan error { return c.broken }

// Wait returns when every thread has ended.
func (c *Consumer) Wait() { c.running.Wait() }

// counters returns the Stats that cost next to nothing.
func (c *Consumer) counters() Stats {
	return Stats{Began: c.began, Delivered: c.delivered.Load(), Again: c.again.Load(), Corrupted: c.corrupted.Load()}
}

// Stats returns the counts so far.
func (c *Consumer) Stats() (Stats, error) {
	t, err := c.state.Totals()
	s := c.counters()
	s.Totals, s.Latency = t, c.latency.Snapshot()
	if text := c.failed.Load(); text != nil {
		s.Err = *text
	}
	return s, err
}

// sink is one thread.
type sink struct {
	of    *Consumer
	rides []ride.Ride
}

// Deliver returns when the rides are counted, or never where they can't be: returning would acknowledge them.
func (s *sink) Deliver(batch []driver.Received) {
	s.rides = s.rides[:0]
	for _, m := range batch {
		r, err := ride.Parse(m.Payload)
		if err != nil {
			s.of.corrupted.Add(1)
			continue
		}
		s.rides = append(s.rides, r)
	}
	fresh, err := s.of.state.Apply(s.rides)
	if err != nil {
		s.of.fail(fmt.Errorf("the state: %w", err))
		select {} // the process ends, and the broker delivers them to the next one
	}
	now := clock.Now()
	for i := range s.rides {
		if at := s.rides[i].At; at > 0 {
			s.of.latency.Record(now - at)
		}
	}
	s.of.delivered.Add(int64(len(batch)))
	s.of.again.Add(int64(len(s.rides) - fresh))
}
