package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// consuming is all consumers of a worker: in its own process (localConsumers) or in another one (remoteConsumers). Once started, they stay
// connected over all trials; each trial begins with listen and ends with end.
type consuming interface {
	// start connects the consumers and blocks until all are registered with the broker.
	start(ctx context.Context) (registration, error)
	// listen books the deliveries from now on in t.
	listen(t *trial)
	// collect brings t's ledgers up to date with the deliveries so far.
	collect(t *trial)
	// end stops booking in t.
	end(t *trial) (consumerReport, error)
	// span returns when messages of the trial came, so far.
	span() span
	close() error
}

// registration is when the last consumer had registered, ns on the clock's axis, and how many deliveries had been booked by then.
type registration struct{ At, Before int64 }

// consumerReport is what is known of the consumers of a trial and isn't in its books.
type consumerReport struct {
	Span    span
	Working float64 // share of the time that the busiest consumer worked on messages (Plan.Delay)
	Pauses  Pauses  // of the consumers' process, if it is not the worker's
}

// span is when the first and the last message came, 0 if none did, and when that was looked at; ns on the clock's axis.
type span struct{ First, Last, At int64 }

// consumerSetup is what consumers have to know, apart from their driver.
type consumerSetup struct {
	Consumers []driver.ConsumerConfig
	Delay     Delay
	Run       uint16
	Shortest  int // bytes of the shortest payload that is sent
}

// localConsumers is all consumers of a worker, in this process.
type localConsumers struct {
	driver  driver.Driver
	configs []driver.ConsumerConfig
	list    []*consumer
	failure *failure
	running sync.WaitGroup
	stop    context.CancelFunc            // ends all consumers; nil until start
	booking atomic.Pointer[measure.Trial] // nil between trials
}

func newLocalConsumers(d driver.Driver, setup consumerSetup, p *probesSeen, f *failure) *localConsumers {
	l := &localConsumers{driver: d, configs: setup.Consumers, failure: f}
	for i, c := range setup.Consumers {
		l.list = append(l.list, &consumer{
			index: i, subscription: c.Subscription, run: setup.Run, shortest: setup.Shortest, probed: p, application: newApplication(setup.Delay, i),
		})
	}
	return l
}

func (l *localConsumers) start(ctx context.Context) (registration, error) {
	life, stop := context.WithCancel(context.Background())
	l.stop = stop
	for _, c := range l.list {
		if c.application != nil {
			c.application.ended = life.Done()
		}
	}
	var last registration
	ready := make(chan struct{}, len(l.configs))
	var missing atomic.Int64
	missing.Store(int64(len(l.configs)))
	l.connect(life, func() {
		if missing.Add(-1) == 0 {
			last = l.registerNow()
		}
		ready <- struct{}{}
	})
	for n := range l.configs {
		select {
		case <-ready:
		case <-l.failure.happened:
			return registration{}, l.failure.err
		case <-ctx.Done():
			return registration{}, fmt.Errorf("%d of %d consumers were not ready in time: %w", len(l.configs)-n, len(l.configs), ctx.Err())
		}
	}
	return last, nil
}

// connect runs every consumer until life ends. At most maxConnecting of them connect at once. ready is called once for each that
// has registered.
func (l *localConsumers) connect(life context.Context, ready func()) {
	connecting := make(chan struct{}, maxConnecting) // holds a token of each consumer that connects
	l.running.Go(func() {
		for i, config := range l.configs {
			select {
			case connecting <- struct{}{}:
			case <-life.Done():
				return
			}
			registered := sync.OnceFunc(func() {
				ready()
				<-connecting
			})
			l.running.Go(func() { l.consume(life, config, l.list[i], registered) })
		}
	})
}

// consume runs one consumer until life ends. A consumer that ends before is the worker's failure.
func (l *localConsumers) consume(life context.Context, config driver.ConsumerConfig, c *consumer, registered func()) {
	err := l.driver.Consume(life, config, c, registered)
	if life.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	l.failure.set(fmt.Errorf("consumer %d of subscription %d: %w", config.ID, config.Subscription, err))
}

// registerNow returns the registration of a consumer that has just registered.
func (l *localConsumers) registerNow() registration {
	r := registration{At: clock.Now()}
	if m := l.booking.Load(); m != nil {
		r.Before = m.Count().Received
	}
	return r
}

func (l *localConsumers) listen(t *trial) { l.book(t.measure, t.keyOf) }

// book gives each consumer a recorder of a trial and forgets the trial before.
func (l *localConsumers) book(m *measure.Trial, keys measure.KeyOf) {
	l.booking.Store(m)
	for _, c := range l.list {
		c.first.Store(0)
		c.last.Store(0)
		if c.application != nil {
			c.application.worked.Store(0)
		}
		c.listen(m.Consumer(c.index, c.subscription, keys))
	}
}

// collect has nothing to do: these consumers book in the ledgers themselves.
func (l *localConsumers) collect(*trial) {}

func (l *localConsumers) end(*trial) (consumerReport, error) {
	for _, c := range l.list {
		c.listen(nil)
	}
	l.booking.Store(nil)
	r := consumerReport{Span: l.span()}
	for _, c := range l.list {
		r.Working = max(r.Working, c.application.busyShare(c.first.Load(), c.last.Load()))
	}
	return r, nil
}

func (l *localConsumers) span() span {
	first, last := int64(math.MaxInt64), int64(0)
	for _, c := range l.list {
		if at := c.first.Load(); at != 0 {
			first = min(first, at)
		}
		last = max(last, c.last.Load())
	}
	if last == 0 {
		first = 0
	}
	return span{First: first, Last: last, At: clock.Now()}
}

func (l *localConsumers) close() error {
	if l.stop != nil {
		l.stop()
		l.running.Wait()
	}
	return nil
}
