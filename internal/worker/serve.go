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
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// ServeConsumers runs the consumers of a worker that is in another process and was prepared with the other end of conn
// (PrepareApart). It blocks until the worker closes the consumers or conn ends. open connects to the broker, where the worker has
// made all topics.
func ServeConsumers(conn io.ReadWriter, open func(context.Context) (driver.Driver, error)) error {
	s := &consumerServer{
		open: open, failure: newFailure(), procs: clock.SetThreads(0), over: make(chan struct{}), reports: json.NewEncoder(conn),
	}
	var reporting sync.WaitGroup
	reporting.Go(s.reportAll)
	err := s.carryOutAll(json.NewDecoder(conn))
	close(s.over)
	reporting.Wait()
	return errors.Join(err, s.close())
}

// consumerServer runs consumers for a worker in another process. One goroutine carries out the worker's orders, another one sends
// reports meanwhile; protocol.go defines both. A trial's deliveries are booked here, and reports add them to the worker's books.
//
// Orders come in this turn: prepare and start, then for each trial listen and end, at last close. If a trial fills a backlog
// first, listen comes before start. Between listen and end, measure may come once and collect any number of times.
type consumerServer struct {
	open      func(context.Context) (driver.Driver, error)
	driver    driver.Driver // nil until doStart
	failure   *failure      // why a consumer ended by itself
	procs     int           // threads outside a trial (clock.SetThreads)
	over      chan struct{} // closed when no more orders come
	plan      *preparation  // nil until doPrepare
	keys      *keyChooser   // nil unless order is promised for each key
	consumers *localConsumers

	// mu is held while a report is made and sent, so that no report of a trial follows the answer that ends it. It guards the
	// fields below. The goroutine of the orders alone writes probes and trial, and reads them without mu.
	mu       sync.Mutex
	reports  *json.Encoder
	probes   *Probes    // probes that the consumers have seen; nil until doPrepare
	reported []bool     // by index in probes.seen: the worker knows of it
	trial    *recording // nil between trials
}

// carryOutAll carries out orders and answers them, until the worker closes the consumers or the connection ends.
func (s *consumerServer) carryOutAll(orders *json.Decoder) error {
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the worker's next order: %w", err)
		}
		answer := s.carryOut(o)
		if err := s.send(answer); err != nil {
			return fmt.Errorf("answer the worker's order %q: %w", o.Do, err)
		}
		if o.Do == doClose {
			return nil
		}
	}
}

func (s *consumerServer) send(r report) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reports.Encode(r)
}

// carryOut carries out an order and returns the answer.
func (s *consumerServer) carryOut(o order) report {
	answer := report{To: o.Do}
	err := s.do(o, &answer)
	if err != nil && !errors.As(err, &answer.Refused) {
		answer.Err = err.Error()
	}
	return answer
}

// do carries out an order and adds to the answer what was asked for. It refuses an order that is unknown, out of turn or lacks
// its field.
func (s *consumerServer) do(o order, answer *report) error {
	prepared, started, inTrial := s.plan != nil, s.driver != nil, s.trial != nil
	switch {
	case o.Do == doPrepare && !prepared && o.Prepare != nil:
		return s.prepare(o.Prepare)
	case o.Do == doStart && prepared && !started:
		return s.start(o.Within, answer)
	case o.Do == doListen && prepared && !inTrial && o.Trial != nil: // also before doStart: a backlog is filled first
		s.listen(o.Trial)
	case o.Do == doMeasure && inTrial && o.Phase != nil:
		s.trial.setMeasuredPhase(*o.Phase)
	case o.Do == doCollect && inTrial:
		answer.Accounts = s.trial.books.Accounts()
	case o.Do == doEnd && inTrial:
		s.endTrial(answer)
	case o.Do == doClose: // at any time, also if preparing failed
		return s.close()
	default:
		return fmt.Errorf("order %q is unknown, out of turn (prepared: %v, started: %v, in a trial: %v) or lacks its field", o.Do, prepared, started, inTrial)
	}
	return nil
}

// prepare makes the consumers, which start connects.
func (s *consumerServer) prepare(p *preparation) error {
	keys, err := newKeyChooser(p.Keys)
	if err != nil {
		return err
	}
	if p.KeyOrdered {
		s.keys = keys
	}
	probes := NewProbes(p.Producers, p.Subscriptions)
	s.plan, s.consumers = p, newLocalConsumers(nil, p.Consumers, probes, s.failure)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.probes, s.reported = probes, make([]bool, len(probes.seen))
	return nil
}

// start connects the consumers to the broker.
func (s *consumerServer) start(within time.Duration, answer *report) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	d, err := s.open(ctx)
	if err != nil {
		return err
	}
	s.driver, s.consumers.driver = d, d
	r, err := s.consumers.start(ctx)
	answer.Registered = &r
	return err
}

// listen begins a trial: from now on, deliveries are booked.
func (s *consumerServer) listen(o *trialStart) {
	t := newRecording(measure.Shape{
		Producers: s.plan.Producers, Consumers: len(s.plan.Consumers.Consumers), Subscriptions: s.plan.Subscriptions, Apart: true,
	}, s.keys)
	for producer, seq := range o.Bases[:min(len(o.Bases), s.plan.Producers)] {
		t.books.SetBase(producer, seq)
	}
	t.setMeasuredPhase(o.Phase)
	if o.Procs > 0 {
		clock.SetThreads(min(o.Procs, s.procs))
	}
	s.consumers.recordIn(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trial = t
}

// endTrial ends the trial and adds all that it has recorded to the answer.
func (s *consumerServer) endTrial(answer *report) {
	heard := s.consumers.stopRecording()
	s.trial.watch.Close()
	heard.Pauses = s.trial.pauses.pauses()
	clock.SetThreads(s.procs)
	s.mu.Lock()
	defer s.mu.Unlock()
	answer.Heard, answer.Accounts = &heard, s.trial.books.Accounts()
	s.addNews(answer, true)
	s.trial = nil
}

// close ends the trial, if there is one, and the consumers, and closes the driver. A second call does nothing.
func (s *consumerServer) close() error {
	if s.trial != nil {
		s.endTrial(&report{}) // nobody asks for its records any more
	}
	if s.consumers == nil {
		return nil
	}
	err := s.consumers.close()
	if s.driver != nil {
		err = errors.Join(err, s.driver.Close())
	}
	s.consumers, s.driver = nil, nil
	return err
}

// reportAll sends a report every reportEvery if there is news, and at once when a consumer has ended by itself.
func (s *consumerServer) reportAll() {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	failed := s.failure.happened
	for n := 1; ; n++ {
		var r report
		select {
		case <-s.over:
			return
		case <-failed:
			r.Broken = s.failure.err.Error()
			failed = nil // never ready again: a failure is reported once
		case <-tick.C:
		}
		if err := s.sendNews(r, n%latenciesEvery == 0); err != nil {
			return // the connection has ended, which carryOutAll finds as well
		}
	}
}

// sendNews adds the news to a report and sends it, unless it is empty.
func (s *consumerServer) sendNews(r report, withLatencies bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addNews(&r, withLatencies)
	if r.Broken == "" && r.Receipts == nil && len(r.Probed) == 0 {
		return nil
	}
	return s.reports.Encode(r)
}

// addNews adds the receipts of the trial so far; between trials, the probes that came since the last report. The caller holds mu.
func (s *consumerServer) addNews(r *report, withLatencies bool) {
	switch {
	case s.trial != nil:
		receipts, came := s.trial.books.Receipts(withLatencies), s.consumers.span()
		r.Receipts, r.Span = &receipts, &came
	case s.probes != nil:
		for i := range s.probes.seen {
			if !s.reported[i] && s.probes.seen[i].Load() {
				s.reported[i] = true
				r.Probed = append(r.Probed, i)
			}
		}
	}
}
