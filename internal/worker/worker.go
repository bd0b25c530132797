package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/driver"
)

// Worker holds the connections of a plan's producers and consumers, ready for trials. It runs one trial at a time.
type Worker struct {
	plan       Plan
	driver     driver.Driver
	bodies     *bodies     // payloads of all messages
	keys       *keyChooser // nil: messages have no keys
	clients    []*client   // that send
	coalescing coalescing  // of wake-ups; what one trial found out, the next begins with
	consumers  consumers   // in this process or in another one
	failure    *failure    // set when a consumer ends by itself
	probes     *Probes     // which subscription has seen which producer
}

// Prepare connects producers and consumers, and sends probes until every subscription has seen every producer. With
// plan.Lagging, it leaves these consumers out and probes nothing, since probes would wait for them.
//
// It blocks for plan.Connect at most. If it fails, it closes what was connected, which may take some seconds more. The caller
// closes the Worker, and then the driver.
func Prepare(ctx context.Context, d driver.Driver, plan Plan) (*Worker, error) {
	return prepareHere(ctx, d, plan, plan.newProbes())
}

// PrepareShared is Prepare for a worker that shares streams with others (plan.Peers). All these workers must be prepared at the
// same time: each waits until every subscription, wherever its consumers are, has seen its producers. probes must not be nil.
func PrepareShared(ctx context.Context, d driver.Driver, plan Plan, probes *Probes) (*Worker, error) {
	if err := plan.checkForSharing(); err != nil {
		return nil, err
	}
	return prepareHere(ctx, d, plan, probes)
}

// prepareHere prepares a worker with its consumers in this process.
func prepareHere(ctx context.Context, d driver.Driver, plan Plan, probes *Probes) (*Worker, error) {
	w, err := newWorker(d, plan, probes)
	if err != nil {
		return nil, err
	}
	w.consumers = newLocalConsumers(d, w.consumerSetup(), probes, w.failure)
	return w.connect(ctx)
}

// PrepareApart is Prepare for consumers in another process, where ServeConsumers has the other end of conn. The Worker closes
// conn.
func PrepareApart(ctx context.Context, d driver.Driver, plan Plan, conn io.ReadWriteCloser) (*Worker, error) {
	w, err := newWorker(d, plan, plan.newProbes())
	if err == nil {
		err = w.bodies.checkHeaders()
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	apart := newApartConsumers(conn, w)
	w.consumers = apart
	if err := apart.prepare(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w.connect(ctx)
}

// newWorker makes a worker with the payloads and keys of all messages.
func newWorker(d driver.Driver, plan Plan, probes *Probes) (*Worker, error) {
	bodies, err := newBodies(plan.Payload, plan.Run)
	if err == nil && (plan.Peers != nil || plan.Topology.Found) {
		err = bodies.checkHeaders()
	}
	if err != nil {
		return nil, err
	}
	keys, err := newKeyChooser(plan.Keys)
	if err != nil {
		return nil, err
	}
	return &Worker{plan: plan, driver: d, bodies: bodies, keys: keys, failure: newFailure(), probes: probes}, nil
}

func (w *Worker) consumerSetup() consumerSetup {
	return consumerSetup{
		Consumers: w.plan.Consumers, Lagging: w.plan.laggingConsumers(), Delay: w.plan.Delay, Run: w.plan.Run, Shortest: w.bodies.smallest,
		Found: w.plan.Topology.Found, Headers: w.plan.headers(),
	}
}

// connect makes the worker ready for trials. It returns the worker, or closes it after an error.
func (w *Worker) connect(ctx context.Context) (*Worker, error) {
	ctx, cancel := context.WithTimeout(ctx, w.plan.Connect)
	defer cancel()
	if err := w.connectAll(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// connectAll sets the topics up and connects consumers before producers, since some brokers keep nothing for a subscription that
// does not exist yet. Then it probes.
func (w *Worker) connectAll(ctx context.Context) error {
	if err := w.driver.Setup(ctx, w.plan.Topology); err != nil {
		return fmt.Errorf("set up topics: %w", err)
	}
	if made := w.probes.OnTopicsMade; made != nil {
		made()
	}
	lagging := w.plan.laggingConsumers()
	if lagging == nil || lagging.apart() {
		if _, err := w.consumers.start(ctx, false); err != nil {
			return err
		}
	}
	if err := w.makeClients(ctx); err != nil {
		return err
	}
	receiving := len(w.plan.Consumers) > 0 || w.plan.Peers != nil
	if lagging != nil || !receiving {
		return nil
	}
	return w.probe(ctx)
}

// makeClients connects all clients. If one fails, w.clients holds those that were connected, so that Close closes them.
func (w *Worker) makeClients(ctx context.Context) error {
	made := make([]*client, w.plan.clients())
	err := eachAtOnce(ctx, len(made), func(ctx context.Context, i int) (err error) {
		made[i], err = newClient(ctx, w, i)
		return err
	})
	w.clients = slices.DeleteFunc(made, func(c *client) bool { return c == nil })
	return err
}

// maxConnecting bounds how many producers, or consumers, connect at once: of thousands, a broker refuses some.
const maxConnecting = 64

// eachAtOnce calls do for 0 to n-1, up to maxConnecting at once, and returns the first error.
func eachAtOnce(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(maxConnecting)
	for i := range n {
		all.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		})
	}
	return all.Wait()
}

// wait blocks for a time. It returns an error if ctx ends or a consumer fails meanwhile.
func (w *Worker) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.failure.happened:
		return w.failure.err
	case <-time.After(d):
		return nil
	}
}

// Close ends producers, then consumers. It blocks until the driver has completed every slot.
func (w *Worker) Close() error {
	// All at once, because each may wait some seconds for a broker that no longer answers.
	errs := make([]error, len(w.clients))
	var closing sync.WaitGroup
	for i, c := range w.clients {
		closing.Go(func() {
			if err := c.conn.Close(); err != nil {
				errs[i] = fmt.Errorf("close producer %d: %w", c.firstProducer(), err)
			}
		})
	}
	closing.Wait()
	return errors.Join(append(errs, w.consumers.close())...)
}

// failure says why a worker is unusable for good: a consumer ended by itself. If a broker dies, many consumers end at once, and
// the first error is kept. Any goroutine may use it.
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
