package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// ServeConsumers runs the consumers of a worker that is in another process and was prepared with the other end of conn
// (PrepareApart). It blocks until the worker closes the consumers or conn ends. open connects to the broker, where the worker has
// made all topics.
func ServeConsumers(conn io.ReadWriter, open func(context.Context) (driver.Driver, error)) error {
	h := &consumerHost{
		open: open, failure: newFailure(), procs: runtime.GOMAXPROCS(0), over: make(chan struct{}), reports: json.NewEncoder(conn),
	}
	var reporting sync.WaitGroup
	reporting.Go(h.reportLoop)
	err := h.carryOutAll(json.NewDecoder(conn))
	close(h.over)
	reporting.Wait()
	return errors.Join(err, h.close())
}

// consumerHost runs consumers for a worker in another process. One goroutine carries out the worker's orders, another one sends reports
// meanwhile; talk.go defines both. A trial's deliveries are booked here and reach the worker's books as reports.
type consumerHost struct {
	open      func(context.Context) (driver.Driver, error)
	driver    driver.Driver // nil until doStart
	failure   *failure      // why a consumer ended by itself
	procs     int           // GOMAXPROCS outside a trial
	over      chan struct{} // closed when no more orders come
	plan      *preparation  // nil until doPrepare
	keys      *keys
	consumers *localConsumers // nil until doPrepare and after doClose

	// mu is held while a report is made and sent, so that no report of a trial follows the answer that ends it.
	mu       sync.Mutex
	reports  *json.Encoder
	probed   *probesSeen  // probes that the consumers have seen
	reported []bool       // by index in probed.seen: the worker knows of it
	trial    *hostedTrial // nil between trials
}

// hostedTrial is the part of a trial in the process of the consumers.
type hostedTrial struct {
	measure *measure.Trial
	watch   *clock.Watch
	pauses  *pauseRecorder
	until   atomic.Int64 // the end of the measured phase, ns on the clock's axis
}

// carryOutAll carries out orders and answers them, until the worker closes the consumers or the connection ends.
func (h *consumerHost) carryOutAll(orders *json.Decoder) error {
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the worker's next order: %w", err)
		}
		answer := h.carryOut(o)
		answer.To = o.Do
		if err := h.send(answer); err != nil {
			return fmt.Errorf("answer the worker's order %q: %w", o.Do, err)
		}
		if o.Do == doClose {
			return nil
		}
	}
}

func (h *consumerHost) send(r report) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reports.Encode(r)
}

// reportLoop sends a report every reportEvery if there is news, and at once when a consumer has ended by itself.
func (h *consumerHost) reportLoop() {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	failed := h.failure.happened
	for n := 1; ; n++ {
		var r report
		select {
		case <-h.over:
			return
		case <-failed:
			r.Broken = h.failure.err.Error()
			failed = nil // report it once
		case <-tick.C:
		}
		if err := h.sendNews(r, n%latenciesEvery == 0); err != nil {
			return // the connection has ended, which carryOutAll finds as well
		}
	}
}

// sendNews adds the news to a report and sends it, unless it is empty.
func (h *consumerHost) sendNews(r report, withLatencies bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.addNews(&r, withLatencies)
	if r.Broken == "" && r.Receipts == nil && len(r.Probed) == 0 {
		return nil
	}
	return h.reports.Encode(r)
}

// addNews adds the receipts of the trial so far; between trials, the probes that came since the last report. The caller holds mu.
func (h *consumerHost) addNews(r *report, withLatencies bool) {
	switch {
	case h.trial != nil:
		span := h.consumers.span()
		receipts := h.trial.measure.Receipts(withLatencies)
		r.Receipts, r.Span = &receipts, &span
	case h.probed != nil:
		for i := range h.probed.seen {
			if !h.reported[i] && h.probed.seen[i].Load() {
				h.reported[i] = true
				r.Probed = append(r.Probed, i)
			}
		}
	}
}

// carryOut carries out an order and returns the answer. It refuses an order that is out of turn, or whose field is missing.
func (h *consumerHost) carryOut(o order) (answer report) {
	var err error
	switch {
	case o.Do == doClose: // also if preparing failed
		err = h.close()
	case o.Do == doPrepare && o.Prepare != nil && h.consumers == nil:
		err = h.prepare(o.Prepare)
	case h.consumers == nil:
		err = fmt.Errorf("order %q is out of turn: %q must come first, with its field set", o.Do, doPrepare)
	case o.Do == doStart && h.driver == nil:
		answer.Registered, err = h.start(o.Within)
	case o.Do == doListen && o.Trial != nil && h.trial == nil: // also before doStart: a backlog is filled first
		h.listen(o.Trial)
	case o.Do == doMeasure && o.Phase != nil && h.trial != nil:
		h.trial.measureDuring(*o.Phase)
	case o.Do == doCollect && h.trial != nil:
		answer.Accounts = h.trial.measure.Accounts()
	case o.Do == doEnd && h.trial != nil:
		answer = h.endTrial()
	default:
		err = fmt.Errorf("order %q is unknown, out of turn or lacks its field", o.Do)
	}
	if err != nil && !errors.As(err, &answer.Refused) {
		answer.Err = err.Error()
	}
	return answer
}

// prepare makes the consumers. start connects them.
func (h *consumerHost) prepare(p *preparation) error {
	keys, err := newKeys(p.Keys)
	if err != nil {
		return err
	}
	probed := newProbesSeen(p.Producers, p.Subscriptions)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plan, h.keys, h.probed, h.reported = p, keys, probed, make([]bool, len(probed.seen))
	h.consumers = newLocalConsumers(nil, p.Consumers, probed, h.failure) // start sets the driver
	return nil
}

// start connects the consumers to the broker.
func (h *consumerHost) start(within time.Duration) (*registration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	d, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	h.driver, h.consumers.driver = d, d
	r, err := h.consumers.start(ctx)
	return &r, err
}

// listen begins a trial.
func (h *consumerHost) listen(o *trialStart) {
	shape := measure.Shape{
		Producers: h.plan.Producers, Consumers: len(h.plan.Consumers.Consumers), Subscriptions: h.plan.Subscriptions, Apart: true,
	}
	var keyOf measure.KeyOf
	if h.plan.KeyOrdered && h.keys != nil {
		shape.Keys, keyOf = h.keys.N, h.keys.of
	}
	t := &hostedTrial{measure: measure.NewTrial(shape)}
	for producer, seq := range o.Bases {
		if producer < h.plan.Producers {
			t.measure.SetBase(producer, seq)
		}
	}
	t.measureDuring(o.Phase)
	if o.Procs > 0 {
		runtime.GOMAXPROCS(min(o.Procs, h.procs))
	}
	t.pauses = &pauseRecorder{from: t.measure.MeasuredSince, until: t.until.Load}
	t.watch = clock.NewWatch(t.pauses.wakeUp)
	h.consumers.book(t.measure, keyOf)
	h.mu.Lock()
	h.trial = t
	h.mu.Unlock()
}

func (t *hostedTrial) measureDuring(p phaseTimes) {
	t.until.Store(p.Until)
	t.measure.MeasureFrom(p.From)
}

// endTrial ends the trial and returns the report that answers doEnd.
func (h *consumerHost) endTrial() report {
	heard, _ := h.consumers.end(nil) // never an error for consumers of this process
	h.trial.watch.Close()
	heard.Pauses = h.trial.pauses.pauses()
	runtime.GOMAXPROCS(h.procs)
	h.mu.Lock()
	defer h.mu.Unlock()
	r := report{Heard: &heard, Accounts: h.trial.measure.Accounts()}
	h.addNews(&r, true)
	h.trial = nil
	return r
}

// close ends the trial, if there is one, and the consumers, and closes the driver. A second call does nothing.
func (h *consumerHost) close() error {
	if h.trial != nil {
		h.endTrial()
	}
	if h.consumers == nil {
		return nil
	}
	err := h.consumers.close()
	if h.driver != nil {
		err = errors.Join(err, h.driver.Close())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.consumers, h.driver, h.probed = nil, nil, nil
	return err
}
