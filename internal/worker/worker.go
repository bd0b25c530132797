package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/driver"
)

// Worker holds the connections of a plan's producers and consumers, ready for trials. It runs one trial at a time.
type Worker struct {
	plan      Plan
	driver    driver.Driver
	bodies    *bodies
	keys      *keys // nil: messages have no keys
	producers []*producer
	consuming consuming
	failure   *failure
	probed    *probesSeen
}

// Prepare connects producers and consumers, and probes until every subscription has seen every producer. If consumers are
// to come later (plan.ConsumeLater), it connects the producers only. It blocks for at most plan.Connect. The driver remains
// the caller's, who closes the Worker before it.
func Prepare(ctx context.Context, d driver.Driver, plan Plan) (*Worker, error) {
	return PrepareApart(ctx, d, plan, nil)
}

// PrepareApart is Prepare for consumers in another process, where ServeConsumers has the other end of conn. If conn is nil,
// the consumers run in this process. The Worker closes conn.
func PrepareApart(ctx context.Context, d driver.Driver, plan Plan, conn io.ReadWriteCloser) (*Worker, error) {
	return prepare(ctx, d, plan, conn, newProbesSeen(plan.producers(), len(plan.Topology.Subscriptions)))
}

func prepare(ctx context.Context, d driver.Driver, plan Plan, conn io.ReadWriteCloser, p *probesSeen) (*Worker, error) {
	w := &Worker{plan: plan, driver: d, failure: newFailure(), probed: p}
	if conn != nil {
		w.consuming = newRemoteConsumers(conn, w) // at once, so that Close closes conn after any error
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *Worker) prepare(ctx context.Context) error {
	if err := w.makeMessages(); err != nil {
		return err
	}
	if w.consuming == nil {
		w.consuming = newLocalConsumers(w.driver, w.consumerSetup(), w.probed, w.failure)
	}
	ctx, cancel := context.WithTimeout(ctx, w.plan.Connect)
	defer cancel()
	return w.connect(ctx)
}

// makeMessages makes the payloads and keys of all messages.
func (w *Worker) makeMessages() (err error) {
	if w.bodies, err = newBodies(w.plan.Payload, w.plan.Run); err != nil {
		return err
	}
	if w.plan.Peers != nil {
		if err := w.bodies.checkHeaders(); err != nil {
			return err
		}
	}
	w.keys, err = newKeys(w.plan.Keys)
	return err
}

// connect sets the topics up and connects consumers before producers, since some brokers keep nothing for a subscription
// that does not exist yet.
func (w *Worker) connect(ctx context.Context) error {
	if err := w.driver.Setup(ctx, w.plan.Topology); err != nil {
		return fmt.Errorf("set up topics: %w", err)
	}
	if w.probed.onTopicsMade != nil {
		w.probed.onTopicsMade()
	}
	if !w.plan.ConsumeLater {
		if err := w.StartConsumers(ctx); err != nil {
			return err
		}
	}
	if err := w.makeProducers(ctx); err != nil {
		return err
	}
	if w.plan.ConsumeLater || len(w.plan.Consumers) == 0 && w.plan.Peers == nil {
		return nil
	}
	return w.probe(ctx)
}

// StartConsumers connects the consumers and blocks until all are registered with the broker.
func (w *Worker) StartConsumers(ctx context.Context) error {
	_, err := w.consuming.start(ctx)
	return err
}

func (w *Worker) consumerSetup() consumerSetup {
	return consumerSetup{Consumers: w.plan.Consumers, Delay: w.plan.Delay, Run: w.plan.Run, Shortest: w.bodies.shortest()}
}

// makeProducers connects all clients. If one fails, w.producers holds those that were connected, so that Close closes them.
func (w *Worker) makeProducers(ctx context.Context) error {
	made := make([]*producer, w.plan.clients())
	err := eachAtOnce(ctx, made, func(ctx context.Context, i int) (err error) {
		made[i], err = newProducer(ctx, w, i)
		return err
	})
	w.producers = slices.DeleteFunc(made, func(p *producer) bool { return p == nil })
	return err
}

// maxConnecting bounds how many producers, or consumers, connect at once: of thousands, a broker refuses some.
const maxConnecting = 64

// eachAtOnce calls do for every index of list, for up to maxConnecting at once, and returns the first error.
func eachAtOnce[T any](ctx context.Context, list []T, do func(ctx context.Context, i int) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(maxConnecting)
	for i := range list {
		all.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return all.Wait()
}

// Close ends producers, then consumers. It blocks until the driver has completed every slot.
func (w *Worker) Close() error {
	// All at once, because each may wait some seconds for a broker that no longer answers.
	errs := make([]error, len(w.producers))
	var closing sync.WaitGroup
	for i, p := range w.producers {
		closing.Go(func() {
			if err := p.client.Close(); err != nil {
				errs[i] = fmt.Errorf("close producer %d: %w", p.streams[0].plan.ID, err)
			}
		})
	}
	closing.Wait()
	if w.consuming != nil {
		errs = append(errs, w.consuming.close())
	}
	return errors.Join(errs...)
}

// failure makes a worker unusable for good: a consumer ended by itself. If a broker dies, many consumers end at once; the first error is
// kept. Any goroutine may use it.
type failure struct {
	once     sync.Once
	happened chan struct{} // closed after err has been set
	err      error         // valid once happened is closed
}

func newFailure() *failure { return &failure{happened: make(chan struct{})} }

func (f *failure) set(err error) { f.once.Do(func() { f.err = err; close(f.happened) }) }

// get returns the error; nil if none has happened.
func (f *failure) get() error {
	select {
	case <-f.happened:
		return f.err
	default:
		return nil
	}
}
