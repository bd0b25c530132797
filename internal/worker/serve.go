package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// ServeConsumers runs the consumers of a worker that is in another process and was prepared with
// the other end of conn (PrepareApart). It blocks until the worker closes the consumers or conn
// ends. open connects to the broker, where the worker has made all topics.
func ServeConsumers(conn io.ReadWriter, open func(context.Context) (driver.Driver, error)) error {
	h := &consumerHost{
		open: open, failure: newFailure(), procs: runtime.GOMAXPROCS(0), over: make(chan struct{}), reports: json.NewEncoder(conn),
	}
	var reporting sync.WaitGroup
	reporting.Go(h.reportAll)
	err := h.carryOutAll(json.NewDecoder(conn))
	close(h.over)
	reporting.Wait()
	return errors.Join(err, h.close())
}

// consumerHost runs consumers for a worker in another process. One goroutine carries out the
// worker's orders, another one sends reports meanwhile; protocol.go defines both. A trial's
// deliveries are booked here and reach the worker's books as reports.
//
// Orders come in this turn: prepare and start, then for each trial listen and end, at last close. If a
// trial fills a backlog first, listen comes before start. Between listen and end, measure may come once
// and collect any number of times.
type consumerHost struct {
	open      func(context.Context) (driver.Driver, error)
	driver    driver.Driver // nil until doStart
	failure   *failure      // why a consumer ended by itself
	procs     int           // GOMAXPROCS outside a trial
	over      chan struct{} // closed when no more orders come
	plan      *preparation  // nil until doPrepare
	keys      *keyChooser   // nil unless order is promised for each key
	consumers *localConsumers

	// mu is held while a report is made and sent, so that no report of a trial follows the answer
	// that ends it. It guards the fields below. The goroutine of the orders alone writes probes and
	// trial, and reads them without mu.
	mu       sync.Mutex
	reports  *json.Encoder
	probes   *Probes    // probes that the consumers have seen; nil until doPrepare
	reported []bool     // by index in probes.seen: the worker knows of it
	trial    *recording // nil between trials
}

// carryOutAll carries out orders and answers them, until the worker closes the consumers or the
// connection ends.
func (h *consumerHost) carryOutAll(orders *json.Decoder) error {
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the worker's next order: %w", err)
		}
		answer := h.carryOut(o)
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

// carryOut carries out an order and returns the answer.
func (h *consumerHost) carryOut(o order) report {
	answer := report{To: o.Do}
	err := h.do(o, &answer)
	if err != nil && !errors.As(err, &answer.Refused) {
		answer.Err = err.Error()
	}
	return answer
}

// do carries out an order and adds to the answer what was asked for. It refuses an order that is
// unknown, out of turn or lacks its field.
func (h *consumerHost) do(o order, answer *report) error {
	prepared, started, inTrial := h.plan != nil, h.driver != nil, h.trial != nil
	switch {
	case o.Do == doPrepare && !prepared && o.Prepare != nil:
		return h.prepare(o.Prepare)
	case o.Do == doStart && prepared && !started:
		return h.start(o.Within, answer)
	case o.Do == doListen && prepared && !inTrial && o.Trial != nil: // also before doStart: a backlog is filled first
		h.listen(o.Trial)
	case o.Do == doMeasure && inTrial && o.Phase != nil:
		h.trial.setMeasuredPhase(*o.Phase)
	case o.Do == doCollect && inTrial:
		answer.Accounts = h.trial.books.Accounts()
	case o.Do == doEnd && inTrial:
		h.endTrial(answer)
	case o.Do == doClose: // at any time, also if preparing failed
		return h.close()
	default:
		return fmt.Errorf("order %q is unknown, out of turn (prepared: %v, started: %v, in a trial: %v) or lacks its field", o.Do, prepared, started, inTrial)
	}
	return nil
}

// prepare makes the consumers, which start connects.
func (h *consumerHost) prepare(p *preparation) error {
	keys, err := newKeyChooser(p.Keys)
	if err != nil {
		return err
	}
	if p.KeyOrdered {
		h.keys = keys
	}
	probes := NewProbes(p.Producers, p.Subscriptions)
	h.plan, h.consumers = p, newLocalConsumers(nil, p.Consumers, probes, h.failure)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probes, h.reported = probes, make([]bool, len(probes.seen))
	return nil
}

// start connects the consumers to the broker.
func (h *consumerHost) start(within time.Duration, answer *report) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	d, err := h.open(ctx)
	if err != nil {
		return err
	}
	h.driver, h.consumers.driver = d, d
	r, err := h.consumers.start(ctx)
	answer.Registered = &r
	return err
}

// listen begins a trial: from now on, deliveries are booked.
func (h *consumerHost) listen(o *trialStart) {
	t := newRecording(measure.Shape{
		Producers: h.plan.Producers, Consumers: len(h.plan.Consumers.Consumers), Subscriptions: h.plan.Subscriptions, Apart: true,
	}, h.keys)
	for producer, seq := range o.Bases[:min(len(o.Bases), h.plan.Producers)] {
		t.books.SetBase(producer, seq)
	}
	t.setMeasuredPhase(o.Phase)
	if o.Procs > 0 {
		runtime.GOMAXPROCS(min(o.Procs, h.procs))
	}
	h.consumers.recordIn(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trial = t
}

// endTrial ends the trial and adds all that it has recorded to the answer.
func (h *consumerHost) endTrial(answer *report) {
	heard := h.consumers.stopRecording()
	h.trial.watch.Close()
	heard.Pauses = h.trial.pauses.pauses()
	runtime.GOMAXPROCS(h.procs)
	h.mu.Lock()
	defer h.mu.Unlock()
	answer.Heard, answer.Accounts = &heard, h.trial.books.Accounts()
	h.addNews(answer, true)
	h.trial = nil
}

// close ends the trial, if there is one, and the consumers, and closes the driver. A second call
// does nothing.
func (h *consumerHost) close() error {
	if h.trial != nil {
		h.endTrial(&report{}) // nobody asks for its records any more
	}
	if h.consumers == nil {
		return nil
	}
	err := h.consumers.close()
	if h.driver != nil {
		err = errors.Join(err, h.driver.Close())
	}
	h.consumers, h.driver = nil, nil
	return err
}

// reportAll sends a report every reportEvery if there is news, and at once when a consumer has
// ended by itself.
func (h *consumerHost) reportAll() {
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
			failed = nil // never ready again: a failure is reported once
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

// addNews adds the receipts of the trial so far; between trials, the probes that came since the
// last report. The caller holds mu.
func (h *consumerHost) addNews(r *report, withLatencies bool) {
	switch {
	case h.trial != nil:
		receipts, came := h.trial.books.Receipts(withLatencies), h.consumers.span()
		r.Receipts, r.Span = &receipts, &came
	case h.probes != nil:
		for i := range h.probes.seen {
			if !h.reported[i] && h.probes.seen[i].Load() {
				h.reported[i] = true
				r.Probed = append(r.Probed, i)
			}
		}
	}
}
