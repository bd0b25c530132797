package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// apartConsumers are the consumers of a worker in another process of this host (ServeConsumers). It sends orders to that process, such
// as "end", and waits for the answer to each. Every 10 ms the process reports what was received, which is added to the worker's books.
// protocol.go defines orders and reports.
//
// One goroutine at a time starts, ends and closes them; any goroutine may ask.
type apartConsumers struct {
	worker       *Worker
	conn         io.ReadWriteCloser
	answerWithin time.Duration // answerTime; tests shorten it
	started      bool          // doStart was sent, so the other process may have connections to the broker

	asking  sync.Mutex // held from an order to its answer
	orders  *json.Encoder
	answers chan report // from readReports, which closes it when the connection ends
	givenUp error       // why the connection was closed before its time

	// What readReports has found of the trial.
	mu       sync.Mutex
	receipts *measure.RemoteConsumers // books them in the trial; nil between trials
	came     span                     // when the messages came, as last reported; its At is 0 before the first report
	changed  bool                     // messages have come since the ledgers were collected
}

// answerTime is how long the other process may take for an order: for doStart, that and the time for connecting.
const answerTime = 30 * time.Second

// ErrConsumerProcess means that the other process ended, doesn't answer, or gives an incomplete answer.
var ErrConsumerProcess = errors.New("the consumers' process")

// ErrLate ends a trial that learned too late when it starts, or when its measured phase begins.
var ErrLate = errors.New(
	"the consumers' process learned too late when the measured phase began: its messages can't be told from those of the warm-up")

// newApartConsumers begins to read from conn. close closes it.
func newApartConsumers(conn io.ReadWriteCloser, w *Worker) *apartConsumers {
	c := &apartConsumers{
		worker: w, conn: conn, answerWithin: answerTime, orders: json.NewEncoder(conn), answers: make(chan report, 1),
	}
	go c.readReports()
	return c
}

// readReports reads reports until the connection ends, which makes the worker fail. It books the receipts in them and passes answers on.
func (c *apartConsumers) readReports() {
	defer close(c.answers)
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
		c.book(r)
		if r.To != "" {
			c.answers <- r
		}
	}
}

// book books the receipts of a report, if it has any, in the trial that is running.
func (c *apartConsumers) book(r report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.receipts == nil || r.Receipts == nil {
		return
	}
	if r.Span != nil {
		c.came = *r.Span
	}
	if received := c.receipts.Book(*r.Receipts); received {
		c.changed = true
	}
}

// ask sends an order and blocks until it is answered.
func (c *apartConsumers) ask(o order) (report, error) {
	return c.askWithin(context.Background(), o, c.answerWithin)
}

// askWithin is ask with a time limit. If the answer takes longer, or ctx is cancelled, it closes the connection, and the worker has
// failed. It doesn't stop at ctx's deadline: the other process has the same deadline, and its answer says what was not done in time.
func (c *apartConsumers) askWithin(ctx context.Context, o order, within time.Duration) (report, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if err := c.gone(); err != nil {
		return report{}, err
	}
	if err := c.orders.Encode(o); err != nil {
		return report{}, c.giveUp(fmt.Errorf("%w takes no order %q: %w", ErrConsumerProcess, o.Do, err))
	}
	tooLate, ctxEnded := time.After(within), ctx.Done()
	for {
		select {
		case answer, ok := <-c.answers:
			switch {
			case !ok:
				return report{}, c.worker.failure.get()
			case answer.To != o.Do:
				return report{}, c.giveUp(fmt.Errorf("%w answered %q to order %q", ErrConsumerProcess, answer.To, o.Do))
			case answer.Refused != nil:
				return answer, answer.Refused
			case answer.Err != "":
				return answer, errors.New(answer.Err)
			}
			return answer, nil
		case <-ctxEnded:
			if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
				return report{}, c.giveUp(err)
			}
			ctxEnded = nil // never ready again
		case <-tooLate:
			return report{}, c.giveUp(fmt.Errorf("%w has not answered for %s", ErrConsumerProcess, within))
		}
	}
}

// giveUp makes err the worker's failure, closes the connection and returns err.
func (c *apartConsumers) giveUp(err error) error {
	c.givenUp = err
	c.worker.failure.set(err)
	_ = c.conn.Close() // err is more precise than other errors of the same connection
	return err
}

// gone returns why the other process gets no more orders: it was given up, or it has ended; nil if it may still answer.
func (c *apartConsumers) gone() error {
	if c.givenUp != nil {
		return c.givenUp
	}
	if err := c.worker.failure.get(); errors.Is(err, ErrConsumerProcess) {
		return err
	}
	return nil
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

// start gives those consumers time to connect until ctx's deadline, or for Plan.Connect if it has none.
func (c *apartConsumers) start(ctx context.Context, lagging bool) (registration, error) {
	within := c.worker.plan.Connect
	if end, ok := ctx.Deadline(); ok {
		within = time.Until(end)
	}
	deadline := time.Now().Add(within)
	c.started = true
	r, err := c.askWithin(ctx, order{Do: doStart, Lagging: lagging, Within: within}, within+c.answerWithin)
	switch {
	case err != nil && time.Now().After(deadline) && !errors.Is(err, ErrConsumerProcess):
		// The answer is text without the kind of its error.
		return registration{}, wordedError{text: err.Error(), kind: context.DeadlineExceeded}
	case err != nil:
		return registration{}, err
	case r.Registered == nil:
		return registration{}, fmt.Errorf("%w did not say when its consumers had registered", ErrConsumerProcess)
	}
	return *r.Registered, nil
}

// listen tells the other process that a trial begins, and books what it reports from now on.
func (c *apartConsumers) listen(t *trial) {
	w := c.worker
	firstSeqs := make([]uint64, w.plan.producerIDs())
	for _, sender := range w.clients {
		for _, s := range sender.streams {
			firstSeqs[s.producer.ID] = s.seq
		}
	}
	c.bookWith(t.recording.books.RemoteConsumers())
	start := trialStart{Bases: firstSeqs, Procs: t.procs, Heap: w.plan.Heap, Phase: t.recording.measuredPhase()}
	if _, err := c.ask(order{Do: doListen, Trial: &start}); err != nil {
		w.failure.set(err)
	}
}

// bookWith books the receipts of a new trial with r. If r is nil, the trial is over.
func (c *apartConsumers) bookWith(r *measure.RemoteConsumers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.receipts, c.came, c.changed = r, span{}, false
}

// announceLead is how long before its beginning the measured phase is announced to the other process. If the process learned
// later than that, it would book the first messages of the phase as warm-up.
const announceLead = 250 * time.Millisecond

// announce tells the other process when the measured phase begins: at proposed, but not before announceLead has passed.
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
	c.mu.Lock()
	changed := c.changed
	c.changed = false
	c.mu.Unlock()
	if !changed {
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

// end ends the trial. The answer has all its receipts, which readReports books before it passes the answer on, and its ledgers.
func (c *apartConsumers) end(t *trial) (consumerStats, error) {
	r, err := c.ask(order{Do: doEnd})
	c.bookWith(nil)
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

// span returns when messages of the trial came, as last reported.
func (c *apartConsumers) span() span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.came.At == 0 {
		return span{At: clock.Now()}
	}
	return c.came
}

// close closes the consumers and the connection, and blocks until nothing is read from it any more.
func (c *apartConsumers) close() error {
	var err error
	if c.started && c.gone() == nil {
		_, err = c.ask(order{Do: doClose})
	}
	err = errors.Join(err, c.conn.Close())
	for range c.answers { // until readReports has ended; these answer no order
	}
	return err
}
