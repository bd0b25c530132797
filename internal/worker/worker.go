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

// Worker holds the connections of one shard, ready for trials. It runs one trial at a time.
type Worker struct {
	plan      Plan
	driver    driver.Driver
	bodies    *bodies
	keys      *keys
	producers []*producer
	consuming consuming
	broken    *broken
	probed    *probed
}

// broken says why a worker is unusable: a consumer ended by itself. Many end at once when a broker dies; the first error
// counts, and everybody who waits sees it.
type broken struct {
	once sync.Once
	is   chan struct{} // closed after err has been set
	err  error
}

func newBroken() *broken { return &broken{is: make(chan struct{})} }

// because breaks the worker for good.
func (b *broken) because(err error) { b.once.Do(func() { b.err = err; close(b.is) }) }

// now returns why the worker is unusable; nil if it is not.
func (b *broken) now() error {
	select {
	case <-b.is:
		return b.err
	default:
		return nil
	}
}

// together bounds how many producers, or consumers, connect at once: a broker refuses some of thousands.
const together = 64

// Prepare connects producers and consumers, and probes until every subscription has seen every producer. If consumers are
// to come later (plan.ConsumeLater), it connects the producers only. It blocks for at most plan.Connect. The driver remains
// the caller's, who closes the Worker before it.
func Prepare(ctx context.Context, d driver.Driver, plan Plan) (*Worker, error) {
	return PrepareApart(ctx, d, plan, nil)
}

// PrepareApart is Prepare for consumers in another process, where ServeConsumers has the other end of away. If away is nil,
// the consumers run in this process. The Worker closes away.
func PrepareApart(ctx context.Context, d driver.Driver, plan Plan, away io.ReadWriteCloser) (*Worker, error) {
	return prepare(ctx, d, plan, away, newProbed(plan.producers(), len(plan.Topology.Subscriptions)))
}

func prepare(ctx context.Context, d driver.Driver, plan Plan, away io.ReadWriteCloser, p *probed) (*Worker, error) {
	w := &Worker{plan: plan, driver: d, broken: newBroken(), probed: p}
	if away != nil {
		w.consuming = newApart(away, w)
	}
	var err error
	if w.bodies, err = newBodies(plan.Payload, plan.Run); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if plan.Peers != nil {
		if err := w.bodies.checkTimed(); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	if w.keys, err = newKeys(plan.Keys); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if w.consuming == nil {
		w.consuming = newBeside(d, w.audience(), w.probed, w.broken)
	}
	ctx, cancel := context.WithTimeout(ctx, plan.Connect)
	defer cancel()
	if err := w.connect(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// connect sets the topics up and connects consumers before producers, since some brokers keep nothing for a subscription
// that does not exist yet.
func (w *Worker) connect(ctx context.Context) error {
	if err := w.driver.Setup(ctx, w.plan.Topology); err != nil {
		return fmt.Errorf("set up topics: %w", err)
	}
	if w.probed.made != nil {
		w.probed.made()
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

// audience describes the consumers and what they have to know.
func (w *Worker) audience() audience {
	return audience{w.plan.Consumers, w.plan.Delay, w.plan.Run, w.bodies.shortest()}
}

// makeProducers connects all clients. If one fails, w.producers holds those that were connected.
func (w *Worker) makeProducers(ctx context.Context) error {
	made := make([]*producer, w.plan.clients())
	err := eachAtOnce(ctx, made, func(ctx context.Context, i int) (err error) {
		made[i], err = newProducer(ctx, w, i)
		return err
	})
	// Those that were connected before one failed are closed with the worker.
	w.producers = slices.DeleteFunc(made, func(p *producer) bool { return p == nil })
	return err
}

// eachAtOnce calls do for every index of list, for several at once, and returns the first error.
func eachAtOnce[T any](ctx context.Context, list []T, do func(ctx context.Context, i int) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(together)
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

// StartConsumers connects the consumers and blocks until all are registered with the broker.
func (w *Worker) StartConsumers(ctx context.Context) error {
	_, err := w.consuming.start(ctx)
	return err
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
