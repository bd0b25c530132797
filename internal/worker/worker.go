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

// Worker holds the connections of one shard, ready for trials.
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

// broken is that a consumer ended by itself, which makes the worker unusable. Many end at once when a broker dies: the
// first error counts, and everybody who waits sees it.
type broken struct {
	once sync.Once
	is   chan struct{} // closed after err has been set
	err  error
}

func newBroken() *broken { return &broken{is: make(chan struct{})} }

func (b *broken) because(err error) { b.once.Do(func() { b.err = err; close(b.is) }) }

// now is why the worker is unusable, nil if it isn't.
func (b *broken) now() error {
	select {
	case <-b.is:
		return b.err
	default:
		return nil
	}
}

// together is how many producers, or consumers, are connected at once.
const together = 64

// Prepare connects producers and consumers and, unless consumers are to come later, probes until every subscription
// has seen every producer. It blocks for at most plan.Connect. d stays the caller's; close the Worker first.
func Prepare(ctx context.Context, d driver.Driver, plan Plan) (*Worker, error) {
	return PrepareApart(ctx, d, plan, nil)
}

// PrepareApart is Prepare for consumers in another process, where ServeConsumers has the other end of away. The Worker
// closes away.
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
	if plan.Beyond != nil {
		if err := sharable(w.bodies); err != nil {
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

func (w *Worker) connect(ctx context.Context) error {
	if err := w.driver.Setup(ctx, w.plan.Topology); err != nil {
		return fmt.Errorf("set up topics: %w", err)
	}
	if !w.plan.ConsumeLater {
		if err := w.StartConsumers(ctx); err != nil {
			return err
		}
	}
	if err := w.makeProducers(ctx); err != nil {
		return err
	}
	if w.plan.ConsumeLater || len(w.plan.Consumers) == 0 && w.plan.Beyond == nil {
		return nil
	}
	return w.probe(ctx)
}

// audience is what the consumers have to know.
func (w *Worker) audience() audience {
	return audience{w.plan.Consumers, w.plan.Delay, w.plan.Run, w.bodies.shortest()}
}

func (w *Worker) makeProducers(ctx context.Context) error {
	made := make([]*producer, w.plan.clients())
	err := eachAtOnce(ctx, made, func(ctx context.Context, i int) (err error) {
		if made[i], err = newProducer(ctx, w, i); err != nil {
			made[i] = nil
			return fmt.Errorf("producer %d: %w", w.plan.Producers[i].ID, err)
		}
		return nil
	})
	// Those that were connected are closed with the worker.
	w.producers = slices.DeleteFunc(made, func(p *producer) bool { return p == nil })
	return err
}

// eachAtOnce does something for every index of list, for several at once; the first error ends it.
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

// Close ends consumers and producers. It blocks until the driver has completed every slot.
func (w *Worker) Close() error {
	// All at once: each may wait some seconds for a broker that doesn't answer any more.
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
