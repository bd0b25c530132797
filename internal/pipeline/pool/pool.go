// Package pool shares a bounded number of a broker's producers among any number of goroutines that each publish one message
// and want to know its fate. It doesn't look into messages.
package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Config says how large a pool is and how long it lets wait.
type Config struct {
	Producers int // how many
	FirstID   int // of its producers: those of different processes must differ
	Window    int // messages that each may have outstanding; 1: a producer is given back when its message is confirmed
	Waiting   int // messages that may wait for a producer; beyond them Publish refuses at once
	MaxBytes  int // of a message
	Patience  time.Duration
	// Fate is how long Publish waits for the outcome of a message that was handed over.
	Fate time.Duration
	// AtOnce has Publish return when the message was handed to the client, without its confirmation.
	AtOnce bool
}

// ErrBusy means that no producer was free in time: the message was not handed over, and never will be.
var ErrBusy = errors.New("no producer was free in time")

// ErrUnknown means that a message was handed over and no confirmation came in time: it may be stored.
var ErrUnknown = errors.New("the broker has not confirmed the message in time")

// ErrClosed means that the pool takes no more messages.
var ErrClosed = errors.New("the pool is closed")

// Counts are the numbers of messages by outcome so far.
type Counts struct {
	Published int64 // confirmed
	Failed    int64 // reported as failed, of those that Publish waited for
	Busy      int64
	Unknown   int64
	// FailedLater were reported as failed after Publish had returned: at once, or after it had given up.
	FailedLater int64
	Waiting     int // now
}

// Pool is the producers. Publish may be called from any goroutine.
type Pool struct {
	config Config
	jobs   chan *job
	lines  []*line
	all    sync.WaitGroup

	closing sync.RWMutex // held for reading while something is put into jobs
	closed  bool

	published, failed, busy, unknown, later atomic.Int64
}

// New opens the producers of topic 0 of d, which stays the caller's; close the pool first.
func New(ctx context.Context, d driver.Driver, c Config) (*Pool, error) {
	c.Producers, c.Window = max(1, c.Producers), max(1, c.Window)
	p := &Pool{config: c, jobs: make(chan *job, max(1, c.Waiting))}
	for i := range c.Producers {
		l := newLine(p)
		var err error
		l.client, err = d.Producer(ctx, driver.ProducerConfig{ID: c.FirstID + i, Topics: []int{0}, InFlight: c.Window, MaxBytes: c.MaxBytes}, l)
		if err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("producer %d of the pool: %w", i+1, err)
		}
		p.lines = append(p.lines, l)
		p.all.Go(l.run)
	}
	return p, nil
}

// Publish hands payload, which it copies, to the first free producer and waits for its confirmation, or, if the pool
// answers at once, only for the handover. Errors: ErrBusy, ErrUnknown, ErrClosed, or the client's own.
func (p *Pool) Publish(payload []byte) error {
	j := newJob(payload)
	defer j.release()
	if err := p.queue(j); err != nil {
		return err
	}
	j.timer.Reset(p.config.Patience)
	select {
	case err := <-j.fate:
		return p.book(err)
	case <-j.timer.C:
	}
	if j.state.CompareAndSwap(waiting, left) {
		p.busy.Add(1)
		return ErrBusy
	}
	j.timer.Reset(p.config.Fate)
	select {
	case err := <-j.fate:
		return p.book(err)
	case <-j.timer.C:
	}
	if !j.state.CompareAndSwap(handed, left) {
		return p.book(<-j.fate)
	}
	p.unknown.Add(1)
	return ErrUnknown
}

// queue puts j where the lines take jobs from.
func (p *Pool) queue(j *job) error {
	p.closing.RLock()
	defer p.closing.RUnlock()
	if p.closed {
		j.release()
		return ErrClosed
	}
	select {
	case p.jobs <- j:
		return nil
	default:
		j.release()
		p.busy.Add(1)
		return ErrBusy
	}
}

func (p *Pool) book(err error) error {
	if err != nil {
		p.failed.Add(1)
	} else if !p.config.AtOnce { // else it is counted when it is confirmed
		p.published.Add(1)
	}
	return err
}

// Counts returns the counts so far.
func (p *Pool) Counts() Counts {
	return Counts{
		Published: p.published.Load(), Failed: p.failed.Load(), Busy: p.busy.Load(), Unknown: p.unknown.Load(),
		FailedLater: p.later.Load(), Waiting: len(p.jobs),
	}
}

// Close publishes the waiting messages, waits up to Fate for outstanding confirmations, and closes the producers.
func (p *Pool) Close() error {
	p.closing.Lock()
	again := p.closed
	p.closed = true
	p.closing.Unlock()
	if again {
		return nil
	}
	close(p.jobs)
	p.all.Wait()
	var errs []error
	for _, l := range p.lines {
		errs = append(errs, l.close(p.config.Fate))
	}
	return errors.Join(errs...)
}
