package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// apartConsumers is all consumers of a worker, in another process of this host (ServeConsumers). It sends orders to that process,
// such as "end", and waits for the answer to each. Every 10 ms the process reports what was received, which is added to the
// worker's books. protocol.go defines orders and reports.
type apartConsumers struct {
	worker       *Worker
	conn         io.ReadWriteCloser
	answerWithin time.Duration // answerTime; tests shorten it
	started      bool          // doStart was sent, so the other process may be connected to the broker

	asking  sync.Mutex // held from an order to its answer
	orders  *json.Encoder
	answers chan report                // from readReports
	ended   chan struct{}              // closed when readReports has ended
	current atomic.Pointer[apartTrial] // nil between trials
}

// apartTrial is the trial whose messages the other process receives now.
type apartTrial struct {
	consumers *measure.RemoteConsumers // only readReports uses it
	span      atomic.Pointer[span]     // as last reported; nil before the first report
	changed   atomic.Bool              // messages have come since the ledgers were collected
}

// answerTime is how long the other process may take for an order: for doStart, that and the time for connecting.
const answerTime = 30 * time.Second

// ErrConsumerProcess means that the other process ended, doesn't answer, or gives an answer that lacks something.
var ErrConsumerProcess = errors.New("the consumers' process")

// ErrLate ends a trial that learned too late when it starts or when its measured phase begins.
var ErrLate = errors.New("the consumers' process learned too late when the measured phase began: its messages can't be told from those of the warm-up")

// newApartConsumers begins to read from conn. close closes it.
func newApartConsumers(conn io.ReadWriteCloser, w *Worker) *apartConsumers {
	c := &apartConsumers{
		worker: w, conn: conn, answerWithin: answerTime,
		orders: json.NewEncoder(conn), answers: make(chan report, 1), ended: make(chan struct{}),
	}
	go c.readReports()
	return c
}

// readReports reads reports until the connection ends. It books the receipts in them and passes answers on.
func (c *apartConsumers) readReports() {
	defer close(c.ended)
	in := json.NewDecoder(c.conn)
	for {
		var r report
		if err := in.Decode(&r); err != nil {
			c.worker.failure.set(fmt.Errorf("%w ended: %w", ErrConsumerProcess, err))
			return
		}
		if r.Broken != "" {
			c.worker.failure.set(errors.New(r.Broken))
		}
		for _, i := range r.Probed {
			c.worker.probes.mark(i)
		}
		if t := c.current.Load(); t != nil && r.Receipts != nil {
			t.span.Store(r.Span)
			if t.consumers.Book(*r.Receipts) {
				t.changed.Store(true)
			}
		}
		if r.To != "" {
			c.answers <- r
		}
	}
}

// ask sends an order and blocks until it is answered.
func (c *apartConsumers) ask(o order) (report, error) {
	return c.askWithin(context.Background(), o, c.answerWithin)
}

// askWithin is ask with a bound of its own. If the answer takes longer, it closes the connection, and the worker has failed.
func (c *apartConsumers) askWithin(ctx context.Context, o order, within time.Duration) (report, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if err := c.worker.failure.get(); errors.Is(err, ErrConsumerProcess) {
		return report{}, err
	}
	if err := c.orders.Encode(o); err != nil {
		return report{}, c.giveUp(fmt.Errorf("%w takes no order %q: %w", ErrConsumerProcess, o.Do, err))
	}
	select {
	case r := <-c.answers:
		switch {
		case r.Refused != nil:
			return r, r.Refused
		case r.Err != "":
			return r, errors.New(r.Err)
		}
		return r, nil
	case <-c.ended:
		return report{}, c.worker.failure.get()
	case <-ctx.Done():
		return report{}, c.giveUp(ctx.Err())
	case <-time.After(within):
		return report{}, c.giveUp(fmt.Errorf("%w has not answered for %s", ErrConsumerProcess, within))
	}
}

// giveUp makes err the worker's failure, closes the connection and returns err.
func (c *apartConsumers) giveUp(err error) error {
	c.worker.failure.set(err)
	_ = c.conn.Close() // err says more than another error of the same connection
	return err
}

// prepare makes the consumers in the other process. It must come before all other orders.
func (c *apartConsumers) prepare() error {
	w := c.worker
	_, err := c.ask(order{Do: doPrepare, Prepare: &preparation{
		Consumers: w.consumerSetup(), Producers: w.plan.producerIDs(), Subscriptions: len(w.plan.Topology.Subscriptions),
		Keys: w.plan.Keys, KeyOrdered: w.plan.KeyOrdered,
	}})
	return err
}

// start gives the consumers time to connect until ctx's deadline, or for Plan.Connect if it has none.
func (c *apartConsumers) start(ctx context.Context) (registration, error) {
	within := c.worker.plan.Connect
	if end, ok := ctx.Deadline(); ok {
		within = time.Until(end)
	}
	c.started = true
	r, err := c.askWithin(ctx, order{Do: doStart, Within: within}, within+c.answerWithin)
	if err != nil {
		return registration{}, err
	}
	if r.Registered == nil {
		return registration{}, fmt.Errorf("%w did not say when its consumers had registered", ErrConsumerProcess)
	}
	return *r.Registered, nil
}

func (c *apartConsumers) listen(t *trial) {
	w := c.worker
	firstSeqs := make([]uint64, w.plan.producerIDs())
	for _, sender := range w.clients {
		for _, s := range sender.streams {
			firstSeqs[s.producer.ID] = s.seq
		}
	}
	c.current.Store(&apartTrial{consumers: t.recording.books.RemoteConsumers()})
	start := trialStart{Bases: firstSeqs, Procs: t.procs, Phase: t.recording.measuredPhase()}
	if _, err := c.ask(order{Do: doListen, Trial: &start}); err != nil {
		w.failure.set(err)
	}
}

// announceLead is how long before the measured phase begins the other process is told of it. If it learned later than that, it
// would book the first messages of the phase as warm-up.
const announceLead = 250 * time.Millisecond

func (c *apartConsumers) announce(t *trial, proposed int64) int64 {
	phase := t.phaseFrom(max(proposed, clock.Now()+int64(announceLead)))
	if _, err := c.ask(order{Do: doMeasure, Phase: &phase}); err != nil {
		c.worker.failure.set(err)
	} else if clock.Now() >= phase.From {
		c.worker.failure.set(ErrLate)
	}
	return phase.From
}

// collect asks for the ledgers, unless nothing has come since they were last asked for.
func (c *apartConsumers) collect(t *trial) {
	if !c.current.Load().changed.Swap(false) {
		return
	}
	r, err := c.ask(order{Do: doCollect})
	if err == nil {
		err = t.recording.books.Enter(r.Accounts)
	}
	if err != nil {
		c.worker.failure.set(err)
	}
}

func (c *apartConsumers) end(t *trial) (consumerStats, error) {
	r, err := c.ask(order{Do: doEnd})
	c.current.Store(nil)
	if err != nil {
		return consumerStats{}, err
	}
	if err := t.recording.books.Enter(r.Accounts); err != nil {
		return consumerStats{}, fmt.Errorf("%w: %w", ErrConsumerProcess, err)
	}
	if r.Stats == nil {
		return consumerStats{}, fmt.Errorf("%w did not say when its consumers received messages and stood still", ErrConsumerProcess)
	}
	return *r.Stats, nil
}

func (c *apartConsumers) span() span {
	if reported := c.current.Load().span.Load(); reported != nil {
		return *reported
	}
	return span{At: clock.Now()}
}

// close closes the consumers and the connection, and blocks until nothing is read from it any more.
func (c *apartConsumers) close() error {
	var err error
	if c.started && !errors.Is(c.worker.failure.get(), ErrConsumerProcess) {
		_, err = c.ask(order{Do: doClose})
	}
	err = errors.Join(err, c.conn.Close())
	<-c.ended
	return err
}
