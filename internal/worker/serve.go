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

// consumerServer runs consumers for a worker in another process. It carries out the worker's orders in one goroutine, while the
// reporter sends reports in another one; protocol.go defines both. A trial's deliveries are booked here, and reports add them to the
// worker's books.
//
// Orders come in this turn: prepare and start, then for each trial listen and end, at last close. If a trial fills a backlog
// first, listen comes before start. Between listen and end, measure may come once and collect any number of times.
type consumerServer struct {
	open      func(context.Context) (driver.Driver, error)
	driver    driver.Driver // nil until doStart
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
	if err != nil && !errors.As(err, &answer.Refused) {
		answer.Err = err.Error()
	}
	return answer
}

// do carries out an order and returns what was asked for. It refuses an order that is unknown, out of turn or lacks its field.
func (s *consumerServer) do(o order) (report, error) {
	prepared, started, inTrial := s.plan != nil, s.driver != nil, s.trial != nil
	switch {
	case o.Do == doPrepare && !prepared && o.Prepare != nil:
		return report{}, s.prepare(o.Prepare)
	case o.Do == doStart && prepared && !started:
		registered, err := s.start(o.Within)
		return report{Registered: &registered}, err
	case o.Do == doListen && prepared && !inTrial && o.Trial != nil: // also before doStart: a backlog is filled first
		s.listen(o.Trial)
		return report{}, nil
	case o.Do == doMeasure && inTrial && o.Phase != nil:
		s.trial.setMeasuredPhase(*o.Phase)
		return report{}, nil
	case o.Do == doCollect && inTrial:
		return report{Accounts: s.trial.books.Accounts()}, nil
	case o.Do == doEnd && inTrial:
		return s.endTrial(), nil
	case o.Do == doClose: // at any time, also if preparing failed
		return report{}, s.close()
	}
	return report{}, fmt.Errorf("order %q is unknown, out of turn (prepared: %v, started: %v, in a trial: %v) or lacks its field",
		o.Do, prepared, started, inTrial)
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

// start connects the consumers to the broker.
func (s *consumerServer) start(within time.Duration) (registration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	d, err := s.open(ctx)
	if err != nil {
		return registration{}, err
	}
	s.driver, s.consumers.driver = d, d
	return s.consumers.start(ctx)
}

// listen begins a trial: from now on, deliveries are booked.
func (s *consumerServer) listen(o *trialStart) {
	s.trial = newRecording(measure.Shape{
		Producers: s.plan.Producers, Consumers: len(s.plan.Consumers.Consumers), Subscriptions: s.plan.Subscriptions, Apart: true,
	}, s.keys)
	for producer, seq := range o.Bases[:min(len(o.Bases), s.plan.Producers)] {
		s.trial.books.SetBase(producer, seq)
	}
	s.trial.setMeasuredPhase(o.Phase)
	if o.Procs > 0 {
		clock.SetThreads(min(o.Procs, s.procs))
	}
	s.consumers.recordIn(s.trial)
	s.reports.beginTrial(s.trial.books, s.consumers)
}

// endTrial ends the trial and reports all that it has recorded.
func (s *consumerServer) endTrial() report {
	stats := s.consumers.stopRecording()
	s.trial.watch.Close()
	stats.Pauses = s.trial.pauses.pauses()
	clock.SetThreads(s.procs)
	last := s.reports.endTrial()
	last.Stats, last.Accounts = &stats, s.trial.books.Accounts()
	s.trial = nil
	return last
}

// close ends the trial, if there is one, and the consumers, and closes the driver. A second call does nothing.
func (s *consumerServer) close() error {
	if s.trial != nil {
		s.endTrial() // nobody asks for its report any more
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

// reporter sends reports to the worker: answers, and every reportEvery what is new. Two goroutines use it.
type reporter struct {
	failure *failure // why a consumer ended by itself

	mu        sync.Mutex // held while a report is made and sent, so that no receipts of a trial follow the answer that ends it
	out       *json.Encoder
	probes    *Probes         // that the consumers have seen; nil before setProbes
	reported  []bool          // by index in probes.seen: the worker knows of it
	trial     *measure.Trial  // nil between trials
	consumers *localConsumers // of the trial
}

func (r *reporter) setProbes(p *Probes) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probes, r.reported = p, make([]bool, len(p.seen))
}

// beginTrial makes r report the receipts of a trial.
func (r *reporter) beginTrial(trial *measure.Trial, consumers *localConsumers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trial, r.consumers = trial, consumers
}

// endTrial ends what beginTrial began and returns a report with all receipts of the trial.
func (r *reporter) endTrial() report {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.news(true)
	r.trial, r.consumers = nil, nil
	return last
}

func (r *reporter) send(answer report) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Encode(answer)
}

// run sends a report every reportEvery if there is news, and at once when a consumer has ended by itself. It returns when over is
// closed or the connection has ended.
func (r *reporter) run(over <-chan struct{}) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	failed := r.failure.happened
	for n := 1; ; n++ {
		broken := ""
		select {
		case <-over:
			return
		case <-failed:
			broken = r.failure.err.Error()
			failed = nil // never ready again: a failure is reported once
		case <-tick.C:
		}
		if err := r.sendNews(broken, n%latenciesEvery == 0); err != nil {
			return // carryOutAll finds as well that the connection has ended
		}
	}
}

// sendNews sends what is new and why a consumer has ended, unless both are empty.
func (r *reporter) sendNews(broken string, withLatencies bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := r.news(withLatencies)
	news.Broken = broken
	if broken == "" && news.Receipts == nil && len(news.Probed) == 0 {
		return nil
	}
	return r.out.Encode(news)
}

// news returns the receipts of the trial so far; between trials, the probes that came since the last report. The caller holds mu.
func (r *reporter) news(withLatencies bool) report {
	var news report
	switch {
	case r.trial != nil:
		receipts, came := r.trial.Receipts(withLatencies), r.consumers.span()
		news.Receipts, news.Span = &receipts, &came
	case r.probes != nil:
		for i := range r.probes.seen {
			if !r.reported[i] && r.probes.seen[i].Load() {
				r.reported[i] = true
				news.Probed = append(news.Probed, i)
			}
		}
	}
	return news
}
