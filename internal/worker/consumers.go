package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// consumers is all consumers of a worker: in its own process (localConsumers), or apart, in another process of this host
// (apartConsumers). Once started, they stay connected over all trials.
//
// A trial begins with listen and ends with end. The methods that return no error make the worker fail if something goes wrong
// (Worker.failure).
type consumers interface {
	// start connects those consumers that lag, or those that don't, and blocks until they are registered with the broker.
	start(ctx context.Context, lagging bool) (registration, error)
	// listen books the deliveries from now on in t.
	listen(t *trial)
	// announce proposes that t's measured phase begins at proposed. It returns when the phase does begin, which is later if the
	// consumers would learn of it too late.
	announce(t *trial, proposed int64) int64
	// collect brings t's ledgers, which say which messages came, up to date with the deliveries so far.
	collect(t *trial)
	// end stops booking in t.
	end(t *trial) (consumerStats, error)
	// span returns when messages of the trial came, so far.
	span() span
	// close ends the consumers and disconnects them.
	close() error
}

// registration is when the last consumer had registered with the broker, ns on the clock's axis, and how many deliveries had been
// booked before that (only those of consumers that lag, if they are counted apart). For example, consumer 0 registers at 6 s and
// receives 500 messages until consumer 1 registers at 7 s. Then At is 7 s and Before is 500. Between trials nothing is booked,
// and Before is 0.
type registration struct{ At, Before int64 }

// consumerStats holds figures of a trial's consumers that are not in its books.
type consumerStats struct {
	Span    span
	Working float64           // share of the time that the busiest consumer worked on messages (Plan.Delay)
	Pauses  Pauses            // of the consumers' process, if it is not the worker's
	Busiest busiest.Goroutine // of that process
	Dropped int64             // deliveries that the client library dropped (driver.Dropper)
	Others  int64             // messages of other runs and applications
}

// span is when the first and the last message came, 0 if none did, and when that was looked at; ns on the clock's axis. Lagging is the
// same of consumers that lag.
type span struct {
	First, Last, At int64
	Lagging         *span `json:",omitempty"`
}

// add makes s span what came from first to last as well; both are 0 if nothing came.
func (s *span) add(first, last int64) {
	s.First, s.Last = earliest(s.First, first), max(s.Last, last)
}

// consumerSetup is what consumers have to know, apart from their driver.
type consumerSetup struct {
	Consumers []driver.ConsumerConfig
	Lagging   laggards
	Delay     Delay
	Run       uint16
	Shortest  int  // bytes of the shortest payload sent
	Found     bool // the topics hold messages of other programs
	Headers   headers
}

// localConsumers is all consumers of a worker, in this process. If they are apart from their worker, that other process has them
// as localConsumers, too.
type localConsumers struct {
	driver  driver.Driver // set by the time of start
	list    []*consumer
	lagging laggards
	failure *failure // set if a consumer ends by itself

	droppedBefore int64 // deliveries that the client library had dropped when the current trial began

	life      context.Context // of all consumers
	endLife   context.CancelFunc
	running   sync.WaitGroup
	recording atomic.Pointer[recording] // of the current trial; nil between trials
}

// newLocalConsumers makes consumers that start connects. d may be nil and set before start.
func newLocalConsumers(d driver.Driver, setup consumerSetup, p *Probes, f *failure) *localConsumers {
	l := &localConsumers{driver: d, lagging: setup.Lagging, failure: f}
	l.life, l.endLife = context.WithCancel(context.Background())
	names := setup.Headers.names()
	for i, config := range setup.Consumers {
		config.Headers = names
		l.list = append(l.list, &consumer{
			index: i, config: config, run: setup.Run, shortest: setup.Shortest, found: setup.Found, headers: setup.Headers, probes: p,
			application: newApplication(setup.Delay, i, l.life.Done()),
		})
	}
	return l
}

func (l *localConsumers) start(ctx context.Context, lagging bool) (registration, error) {
	registered := make(chan registration, len(l.list))
	connecting := make(chan struct{}, maxConnecting) // holds a value for each consumer that is connecting now
	started := 0
	for i, c := range l.list {
		if l.lagging.of(i) == lagging {
			started++
			l.running.Go(func() { l.consume(c, connecting, registered) })
		}
	}
	return awaitLast(ctx, started, registered, l.failure)
}

// awaitLast blocks until so many consumers are registered, and returns the last registration.
func awaitLast(ctx context.Context, started int, registered <-chan registration, f *failure) (last registration, err error) {
	for n := range started {
		select {
		case r := <-registered:
			if r.At > last.At {
				last = r
			}
		case <-f.happened:
			return registration{}, f.err
		case <-ctx.Done():
			return registration{}, fmt.Errorf("%d of %d consumers were not ready in time: %w", started-n, started, ctx.Err())
		}
	}
	return last, nil
}

// consume runs one consumer until all are closed.
func (l *localConsumers) consume(c *consumer, connecting chan struct{}, registered chan<- registration) {
	select {
	case connecting <- struct{}{}:
	case <-l.life.Done():
		return
	}
	ready := sync.OnceFunc(func() {
		now := registration{At: clock.Now()}
		if current := l.recording.Load(); current != nil {
			now.Before = deliveriesOf(l.lagging, current.books.Count())
		}
		registered <- now
		<-connecting // the next consumer may connect
	})
	runConsumer(l.life, l.driver, c.index, c.config, c, ready, l.failure)
}

// runConsumer runs a consumer until life ends. If it ends before, f is set. index names its goroutines.
func runConsumer(life context.Context, d driver.Driver, index int, c driver.ConsumerConfig, to driver.Sink, ready func(), f *failure) {
	var err error
	busiest.Do(life, fmt.Sprintf("consumer %d", index), func(ctx context.Context) { err = d.Consume(ctx, c, to, ready) })
	if life.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	f.set(fmt.Errorf("consumer %d of subscription %d: %w", c.ID, c.Subscription, err))
}

func (l *localConsumers) listen(t *trial) { l.recordIn(t.recording) }

// recordIn makes the consumers book in r and forget the trial before.
func (l *localConsumers) recordIn(r *recording) {
	l.recording.Store(r)
	l.droppedBefore = l.dropped()
	for _, c := range l.list {
		c.first.Store(0)
		c.last.Store(0)
		c.others = 0 // between trials nothing else writes it
		if c.application != nil {
			c.application.worked.Store(0)
		}
		recorder := r.books.Consumer(c.index, c.config.Subscription, r.keyOf)
		if l.lagging.apart() && l.lagging.of(c.index) {
			recorder.Lag()
		}
		c.bookWith(recorder)
	}
}

// deliveriesOf returns how many deliveries of a count came to the consumers that drain a backlog.
func deliveriesOf(lagging laggards, c measure.Count) int64 {
	if lagging.apart() {
		return c.Lagging
	}
	return c.Received
}

// announce returns proposed: these consumers read the phase from the books.
func (l *localConsumers) announce(_ *trial, proposed int64) int64 { return proposed }

// collect does nothing: these consumers book in the ledgers themselves.
func (l *localConsumers) collect(*trial) {}

func (l *localConsumers) end(*trial) (consumerStats, error) { return l.stopRecording(), nil }

// stopRecording ends what recordIn began.
func (l *localConsumers) stopRecording() consumerStats {
	for _, c := range l.list {
		c.bookWith(nil)
	}
	l.recording.Store(nil)
	r := consumerStats{Span: l.span(), Dropped: l.dropped() - l.droppedBefore}
	for _, c := range l.list {
		r.Working = max(r.Working, c.application.busyShare(c.first.Load(), c.last.Load()))
		r.Others += c.others // nothing writes it any more
	}
	return r
}

// dropped returns how many deliveries the client library has dropped since it was opened; 0 if it drops none.
func (l *localConsumers) dropped() int64 {
	if d, ok := l.driver.(driver.Dropper); ok {
		return d.Dropped()
	}
	return 0
}

func (l *localConsumers) span() span {
	s := span{}
	if l.lagging.apart() {
		s.Lagging = &span{}
	}
	for i, c := range l.list {
		first, last := c.first.Load(), c.last.Load()
		s.add(first, last)
		if s.Lagging != nil && l.lagging.of(i) {
			s.Lagging.add(first, last)
		}
	}
	s.At = clock.Now()
	return s
}

func (l *localConsumers) close() error {
	l.endLife()
	l.running.Wait()
	return nil
}
