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

// consuming is all consumers of a worker: beside its producers, or in a process of their own.
type consuming interface {
	// start connects the consumers and blocks until all are registered with the broker.
	start(ctx context.Context) (registered, error)
	// listen books the deliveries from now on in t.
	listen(t *trial)
	// collect brings t's ledgers up to date with the deliveries so far.
	collect(t *trial)
	// end stops booking in t. It returns what is known of the consumers beside t's books.
	end(t *trial) (heard, error)
	// span returns when the messages of the trial came, so far.
	span() span
	close() error
}

// registered is when the last consumer had registered, ns on the clock's axis, and how many deliveries were booked then.
type registered struct{ At, Before int64 }

// heard is what is known of the consumers of a trial beside its books.
type heard struct {
	Span    span
	Working float64 // of the busiest consumer
	Pauses  Pauses  // of their process, where that is another one
}

// span is when the first and the last message came, 0 where none did, and when that was looked at; ns on the clock's axis.
type span struct{ First, Last, At int64 }

// beside is all consumers of a worker, in its own process.
type beside struct {
	driver  driver.Driver
	configs []driver.ConsumerConfig
	probed  *probed
	broken  *broken
	list    []*consumer
	running sync.WaitGroup
	stop    context.CancelFunc
	booking atomic.Pointer[measure.Trial] // nil between trials
}

// audience is what consumers have to know, apart from their driver.
type audience struct {
	Consumers []driver.ConsumerConfig
	Delay     Delay
	Run       uint16
	Shortest  int // bytes of the shortest payload that is sent
}

func newBeside(d driver.Driver, a audience, p *probed, b *broken) *beside {
	s := &beside{driver: d, configs: a.Consumers, probed: p, broken: b}
	for i, c := range a.Consumers {
		s.list = append(s.list, &consumer{
			index: i, subscription: c.Subscription, run: a.Run, shortest: a.Shortest, probed: p, application: newApplication(a.Delay, i),
		})
	}
	return s
}

func (s *beside) start(ctx context.Context) (registered, error) {
	life, stop := context.WithCancel(context.Background())
	s.stop = stop
	for _, c := range s.list {
		if c.application != nil {
			c.application.life = life.Done()
		}
	}
	var last registered
	ready := make(chan struct{}, len(s.configs))
	var missing atomic.Int64
	missing.Store(int64(len(s.configs)))
	s.connect(life, func() {
		if missing.Add(-1) == 0 {
			last = s.now()
		}
		ready <- struct{}{}
	})
	for n := range s.configs {
		select {
		case <-ready:
		case <-s.broken.is:
			return registered{}, s.broken.err
		case <-ctx.Done():
			return registered{}, fmt.Errorf("%d of %d consumers were not ready in time: %w", len(s.configs)-n, len(s.configs), ctx.Err())
		}
	}
	return last, nil
}

// connect runs every consumer until life ends. At most together of them connect at once. ready is called once for each that
// has registered.
func (s *beside) connect(life context.Context, ready func()) {
	turns := make(chan struct{}, together)
	s.running.Go(func() {
		for i, c := range s.configs {
			select {
			case turns <- struct{}{}:
			case <-life.Done():
				return
			}
			s.running.Go(func() {
				err := s.driver.Consume(life, c, s.list[i], sync.OnceFunc(func() { ready(); <-turns }))
				if life.Err() == nil {
					s.broken.because(fmt.Errorf("consumer %d of subscription %d: %w", c.ID, c.Subscription, orEnded(err)))
				}
			})
		}
	})
}

// now is the registration of a consumer that has just registered.
func (s *beside) now() registered {
	r := registered{At: clock.Now()}
	if m := s.booking.Load(); m != nil {
		r.Before = m.Count().Received
	}
	return r
}

func (s *beside) listen(t *trial) { s.book(t.measure, t.keyOf) }

// book gives each consumer a recorder of a trial and forgets the trial before.
func (s *beside) book(m *measure.Trial, keys measure.KeyOf) {
	s.booking.Store(m)
	for _, c := range s.list {
		c.first.Store(0)
		c.last.Store(0)
		if c.application != nil {
			c.application.worked.Store(0)
		}
		c.listen(m.Consumer(c.index, c.subscription, keys))
	}
}

func (s *beside) collect(*trial) {} // the consumers write there themselves

func (s *beside) end(*trial) (heard, error) {
	for _, c := range s.list {
		c.listen(nil)
	}
	s.booking.Store(nil)
	h := heard{Span: s.span()}
	for _, c := range s.list {
		h.Working = max(h.Working, c.application.working(c.first.Load(), c.last.Load()))
	}
	return h, nil
}

func (s *beside) span() span {
	first, last := int64(math.MaxInt64), int64(0)
	for _, c := range s.list {
		if at := c.first.Load(); at != 0 {
			first = min(first, at)
		}
		last = max(last, c.last.Load())
	}
	if last == 0 {
		first = 0
	}
	return span{first, last, clock.Now()}
}

func (s *beside) close() error {
	if s.stop != nil {
		s.stop()
		s.running.Wait()
	}
	return nil
}

// orEnded returns an error also for a consumer that ended without one.
func orEnded(err error) error {
	if err == nil {
		return errors.New("ended by itself")
	}
	return err
}
