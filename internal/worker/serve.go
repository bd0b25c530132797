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
	failure := newFailure()
	s := &consumerServer{
		open: open, failure: failure, procs: clock.SetThreads(0), reports: &reporter{failure: failure, out: json.NewEncoder(conn)},
	}
	over := make(chan struct{})
	var reporting sync.WaitGroup
	reporting.Go(func() { s.reports.run(over) })
	err := s.carryOutAll(json.NewDecoder(conn))
	close(over)
	reporting.Wait()
	return errors.Join(err, s.close())
}

// consumerServer runs consumers for a worker in another process. It carries out the worker's orders in one goroutine, while its
// reporter sends reports in another one; protocol.go defines both. A trial's deliveries are booked here, and reports add them to the
// worker's books.
//
// Orders come in this sequence: prepare and start, then for each trial listen and end, at last close. If a trial fills a backlog
// first, listen comes before start, or before the second start if only some consumers lag. Between listen and end, measure may
// come once and collect any number of times.
type consumerServer struct {
	open      func(context.Context) (driver.Driver, error)
	driver    driver.Driver // nil until doStart
	started   [2]bool       // consumers that don't lag, and consumers that do
	failure   *failure      // why a consumer ended by itself
	procs     int           // threads outside a trial (clock.SetThreads)
	plan      *preparation  // nil until doPrepare
	keys      *keyChooser   // nil unless order is promised for each key
	consumers *localConsumers
	trial     *recording // nil between trials
	reports   *reporter
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
		if err := s.reports.send(answer); err != nil {
			return fmt.Errorf("answer the worker's order %q: %w", o.Do, err)
		}
		if o.Do == doClose {
			return nil
		}
	}
}

// carryOut carries out an order and returns the answer.
func (s *consumerServer) carryOut(o order) report {
	answer, err := s.do(o)
	answer.To = o.Do
	if refusal, ok := errors.AsType[*driver.ErrUnsupported](err); ok {
		answer.Refused = refusal
	} else if err != nil {
		answer.Err = err.Error()
	}
	return answer
}

// do carries out an order and returns the requested report. It refuses an order that is unknown, out of sequence or lacks its field.
func (s *consumerServer) do(o order) (report, error) {
	if err := s.checkTurn(o); err != nil {
		return report{}, err
	}
	switch o.Do {
	case doPrepare:
		return report{}, s.prepare(o.Prepare)
	case doStart:
		registered, err := s.start(o.Lagging, o.Within)
		return report{Registered: &registered}, err
	case doListen:
		return report{}, s.listen(o.Trial)
	case doMeasure:
		s.trial.setMeasuredPhase(*o.Phase)
		return report{}, nil
	case doCollect:
		return report{Accounts: s.trial.books.Accounts()}, nil
	case doEnd:
		return s.endTrial(), nil
	default: // doClose
		return report{}, s.close()
	}
}

// checkTurn returns an error if an order can't be carried out now.
func (s *consumerServer) checkTurn(o order) error {
	prepared, started, inTrial := s.plan != nil, s.driver != nil, s.trial != nil
	var inTurn, complete bool
	switch o.Do {
	case doPrepare:
		inTurn, complete = !prepared, o.Prepare != nil
	case doStart:
		inTurn, complete = prepared && !s.started[index(o.Lagging)], true
	case doListen: // also before doStart: a backlog is filled first
		inTurn, complete = prepared && !inTrial, o.Trial != nil
	case doMeasure:
		inTurn, complete = inTrial, o.Phase != nil
	case doCollect, doEnd:
		inTurn, complete = inTrial, true
	case doClose: // at any time, also if preparing failed
		inTurn, complete = true, true
	default:
		return fmt.Errorf("order %q is unknown", o.Do)
	}
	switch {
	case !inTurn:
		return fmt.Errorf("order %q is out of turn (prepared: %v, started: %v, in a trial: %v)", o.Do, prepared, started, inTrial)
	case !complete:
		return fmt.Errorf("order %q lacks its field", o.Do)
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
	s.reports.setProbes(probes)
	return nil
}

// start connects to the broker those consumers that lag, or those that don't.
func (s *consumerServer) start(lagging bool, within time.Duration) (registration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if s.driver == nil {
		d, err := s.open(ctx)
		if err != nil {
			return registration{}, err
		}
		s.driver, s.consumers.driver = d, d
	}
	s.started[index(lagging)] = true
	return s.consumers.start(ctx, lagging)
}

func index(second bool) int {
	if second {
		return 1
	}
	return 0
}

// listen begins a trial: from now on, deliveries are booked.
func (s *consumerServer) listen(o *trialStart) error {
	if len(o.Bases) != s.plan.Producers {
		return fmt.Errorf("the trial has the first sequence numbers of %d producers, not of %d", len(o.Bases), s.plan.Producers)
	}
	s.trial = newRecording(measure.Shape{
		Producers: s.plan.Producers, Consumers: len(s.plan.Consumers.Consumers), Subscriptions: s.plan.Subscriptions, Apart: true,
	}, s.keys)
	for producer, seq := range o.Bases {
		s.trial.books.SetBase(producer, seq)
	}
	s.trial.setMeasuredPhase(o.Phase)
	s.trial.watchEffort(o.Heap)
	if o.Procs > 0 {
		clock.SetThreads(min(o.Procs, s.procs))
	}
	s.consumers.recordIn(s.trial)
	s.reports.beginTrial(s.trial.books, s.consumers)
	return nil
}

// endTrial ends the trial and reports all that it has recorded.
func (s *consumerServer) endTrial() report {
	stats := s.consumers.stopRecording()
	s.trial.watch.Close()
	stats.Pauses, stats.Busiest = s.trial.pauses.pauses(), s.trial.effort.end()
	clock.SetThreads(s.procs)
	last := s.reports.endTrial()
	last.Stats, last.Accounts = &stats, s.trial.books.Accounts()
	s.trial = nil
	return last
}

// close ends the trial, if there is one, and the consumers, and closes the driver. A second call does nothing.
func (s *consumerServer) close() error {
	if s.trial != nil {
		s.endTrial() // its report is no longer needed
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
