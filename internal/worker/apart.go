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

// apart is the consumers of a worker, in another process.
type apart struct {
	worker *Worker
	conn   io.ReadWriteCloser
	asking sync.Mutex // held from an order to its answer
	orders *json.Encoder

	answers chan report           // answers to orders, from readReports
	ended   chan struct{}         // closed when readReports has ended
	trial   atomic.Pointer[trial] // whose receipts are booked; nil between trials
	seen    atomic.Pointer[span]  // of that trial; nil if nothing was reported yet
	changed atomic.Bool           // messages came since the ledgers were collected

	prepared bool
	started  bool
	patience time.Duration // bounds the wait for an answer
}

func newApart(conn io.ReadWriteCloser, w *Worker) *apart {
	a := &apart{worker: w, conn: conn, orders: json.NewEncoder(conn), answers: make(chan report, 1), ended: make(chan struct{}), patience: answerTime}
	go a.readReports()
	return a
}

// ErrConsumerProcess is an error of the other process: it ended, or it doesn't answer.
var ErrConsumerProcess = errors.New("the consumers' process")

// readReports books reports and passes answers on, until the connection ends.
func (a *apart) readReports() {
	defer close(a.ended)
	in := json.NewDecoder(a.conn)
	var booked *trial
	var before measure.Receipts // of booked
	for {
		var r report
		if err := in.Decode(&r); err != nil {
			a.worker.failure.set(fmt.Errorf("%w ended: %w", ErrConsumerProcess, err))
			return
		}
		if r.Broken != "" {
			a.worker.failure.set(errors.New(r.Broken))
		}
		for _, i := range r.Probed {
			if i >= 0 && i < len(a.worker.probed.seen) {
				a.worker.probed.seen[i].Store(true)
			}
		}
		if t := a.trial.Load(); t != booked {
			booked, before = t, measure.Receipts{}
		}
		if r.Receipts != nil && booked != nil {
			if r.Receipts.Received != before.Received {
				a.changed.Store(true)
			}
			a.seen.Store(r.Span)
			before = booked.measure.Absorb(before, *r.Receipts)
		}
		if r.To != "" {
			a.answers <- r
		}
	}
}

// answerTime is how long an order may take. doStart may take Plan.Connect in addition.
const answerTime = 30 * time.Second

// ask sends an order and blocks until it is answered. If that takes too long, it gives the other process up.
func (a *apart) ask(o order) (report, error) {
	return a.askWithin(context.Background(), o, a.patience)
}

func (a *apart) askWithin(ctx context.Context, o order, within time.Duration) (report, error) {
	a.asking.Lock()
	defer a.asking.Unlock()
	if err := a.worker.failure.get(); errors.Is(err, ErrConsumerProcess) {
		return report{}, err
	}
	if err := a.orders.Encode(o); err != nil {
		return report{}, a.giveUp(fmt.Errorf("%w takes no order %q: %w", ErrConsumerProcess, o.Do, err))
	}
	select {
	case r := <-a.answers:
		switch {
		case r.Refused != nil:
			return r, r.Refused
		case r.Err != "":
			return r, errors.New(r.Err)
		}
		return r, nil
	case <-a.ended:
		return report{}, a.worker.failure.get()
	case <-ctx.Done():
		return report{}, a.giveUp(ctx.Err())
	case <-time.After(within):
		return report{}, a.giveUp(fmt.Errorf("%w has not answered for %s", ErrConsumerProcess, within))
	}
}

// giveUp breaks the worker, closes the connection and returns err.
func (a *apart) giveUp(err error) error {
	a.worker.failure.set(err)
	_ = a.conn.Close() // err says more than another error of the same connection
	return err
}

// prepare sends doPrepare if it hasn't yet.
func (a *apart) prepare() error {
	if a.prepared {
		return nil
	}
	w := a.worker
	if err := w.bodies.checkTimed(); err != nil {
		return err
	}
	_, err := a.ask(order{Do: doPrepare, Prepare: &preparation{
		Consumers: w.consumerSetup(), Producers: w.plan.producers(), Subscriptions: len(w.plan.Topology.Subscriptions),
		Keys: w.plan.Keys, KeyOrdered: w.plan.KeyOrdered,
	}})
	a.prepared = err == nil
	return err
}

func (a *apart) start(ctx context.Context) (registration, error) {
	if err := a.prepare(); err != nil {
		return registration{}, err
	}
	within := a.worker.plan.Connect
	if end, ok := ctx.Deadline(); ok {
		within = time.Until(end)
	}
	a.started = true
	r, err := a.askWithin(ctx, order{Do: doStart, Within: within}, within+a.patience)
	if err != nil || r.Registered == nil {
		return registration{}, err
	}
	return *r.Registered, nil
}

func (a *apart) listen(t *trial) {
	w := a.worker
	if err := a.prepare(); err != nil {
		w.failure.set(err)
		return
	}
	bases := make([]uint64, w.plan.producers())
	for _, p := range w.producers {
		for _, s := range p.streams {
			bases[s.plan.ID] = s.seq
		}
	}
	from := t.measure.MeasuredSince()
	a.seen.Store(nil)
	a.changed.Store(false)
	a.trial.Store(t)
	start := trialStart{Bases: bases, Procs: t.procs, Phase: phaseTimes{From: from, Until: t.phaseEnd(from)}}
	if _, err := a.ask(order{Do: doListen, Trial: &start}); err != nil {
		w.failure.set(err)
	}
	if from == measure.Undecided {
		t.announce = func(from int64) int64 { return a.announce(t, from) }
	}
}

// lead is how long before the measured phase consumers in another process are told of it. If they learned later, they would book its
// first messages as warm-up.
const lead = 250 * time.Millisecond

// ErrLate ends a trial that learned too late when it starts or when its measured phase begins.
var ErrLate = errors.New("the consumers' process learned too late when the measured phase began: its messages can't be told from those of the warm-up")

// lateError is an ErrLate with a text of its own.
type lateError string

func (e lateError) Error() string      { return string(e) }
func (lateError) Is(target error) bool { return target == ErrLate }

// announce implements trial.announce.
func (a *apart) announce(t *trial, from int64) int64 {
	from = max(from, clock.Now()+int64(lead))
	if _, err := a.ask(order{Do: doMeasure, Phase: &phaseTimes{From: from, Until: t.phaseEnd(from)}}); err != nil {
		a.worker.failure.set(err)
	} else if clock.Now() >= from {
		a.worker.failure.set(ErrLate)
	}
	return from
}

func (a *apart) collect(t *trial) {
	if !a.changed.Swap(false) {
		return
	}
	r, err := a.ask(order{Do: doCollect})
	if err == nil {
		err = t.measure.Enter(r.Accounts)
	}
	if err != nil {
		a.worker.failure.set(err)
	}
}

func (a *apart) end(t *trial) (consumerReport, error) {
	r, err := a.ask(order{Do: doEnd})
	a.trial.Store(nil)
	if err != nil {
		return consumerReport{}, err
	}
	if err := t.measure.Enter(r.Accounts); err != nil {
		return consumerReport{}, fmt.Errorf("%w: %w", ErrConsumerProcess, err)
	}
	if r.Heard == nil {
		return consumerReport{Span: a.span()}, nil
	}
	return *r.Heard, nil
}

func (a *apart) span() span {
	if s := a.seen.Load(); s != nil {
		return *s
	}
	return span{At: clock.Now()}
}

func (a *apart) close() error {
	var err error
	if a.started && !errors.Is(a.worker.failure.get(), ErrConsumerProcess) {
		_, err = a.ask(order{Do: doClose})
	}
	err = errors.Join(err, a.conn.Close())
	<-a.ended
	return err
}
