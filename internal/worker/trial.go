package worker

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// trial is one running trial. All times are ns on the clock's axis.
//
// A trial sends (warm-up, then the measured phase) and drains. A message belongs to the phase in which it was intended to
// be sent, whenever it was sent or received:
//
//	startedAt        measured since        measuredUntil      sendingEndedAt
//	    | warm-up          | measured phase       |  late sends     |  drain
//
// The start of the measured phase is fixed once: when the trial begins, if the warm-up has a fixed length; otherwise by the observer,
// when rate and latency no longer drift; at the latest when the trial has ended.
type trial struct {
	load          Load
	startedAt     int64        // when the schedule begins
	measuredUntil atomic.Int64 // messages intended from here on are not sent; math.MaxInt64: not fixed, or a number of messages
	measure       *measure.Trial
	watch         *clock.Watch
	pauses        *pauseRecorder
	keyOf         measure.KeyOf // nil unless order is promised for each key
	procs         int           // threads that may run Go code at once
	// announce tells consumers in another process the proposed start of the measured phase. It returns the start they agreed
	// on, at or after proposed. Nil: the consumers run in this process, or the phase was fixed before they were told of the
	// trial (consuming.listen).
	announce func(proposed int64) int64

	phaseFixed sync.Once
	stop       chan struct{} // closed to end sending
	stopOnce   sync.Once

	learnedLate    atomic.Bool // Hooks.MeasureFrom returned a start of the measured phase that was too near
	sendingDone    atomic.Bool // all producers have sent their last message
	sendingEndedAt int64       // when that was; set before the trial drains
}

// Run runs one trial and blocks until it has drained or its allowance is used up. Only one trial may run at a time. If ctx
// ends it early, the outcome holds what was measured until then, with Err set.
func (w *Worker) Run(ctx context.Context, load Load) Outcome {
	if err := w.plan.checkPeers(load); err != nil {
		return Outcome{Err: err}
	}
	procs, restore := w.limitThreads(load)
	defer restore()
	t := w.begin(load, procs)
	observer := newObserver(t, &w.plan)
	var observing sync.WaitGroup
	ended := make(chan struct{})
	observing.Go(func() { observer.run(ended) })

	err := w.checkStart(load)
	if err == nil {
		err = w.sendAll(ctx, t, t.course())
	}
	t.sendingEndedAt = clock.Now()
	var backlog Drained
	if load.Backlog != nil && err == nil {
		backlog, err = w.drainBacklog(ctx, t)
	}
	var rest arrivals
	// After ErrRanDry, drainBacklog has already used up the waiting time. After errMissedStart, nothing will come.
	if !errors.Is(err, ErrRanDry) && err != errMissedStart {
		var early error
		rest, early = w.awaitArrivals(ctx, t, err == nil)
		err = errors.Join(err, early)
	}
	close(ended)
	observing.Wait()
	out := w.outcome(t, observer, err)
	out.Drained, out.Arriving, out.Overdue = rest.drained, rest.stillArriving, rest.overdue
	out.Backlog, out.Procs = backlog, procs
	return out
}

// runUp is the time between the beginning of a trial and its first message, so that start-up time is not counted as lag.
const runUp = 20 * time.Millisecond

// begin makes a trial and lets producers and consumers book in it. Nothing is sent yet.
func (w *Worker) begin(load Load, procs int) *trial {
	shape := measure.Shape{
		Producers:     w.plan.producers(),
		Consumers:     len(w.plan.Consumers),
		Subscriptions: len(w.plan.Topology.Subscriptions),
		ShortPayload:  w.bodies.shortest() < wire.HeaderSize,
		Outstanding:   4 * w.plan.InFlight,
	}
	if w.plan.KeyOrdered && w.keys != nil {
		shape.Keys = w.keys.N
	}
	t := &trial{load: load, procs: procs, startedAt: load.Start, measure: measure.NewTrial(shape), stop: make(chan struct{})}
	if shape.Keys > 0 {
		t.keyOf = w.keys.of
	}
	t.expectPeers(load.Peers)
	t.pauses = &pauseRecorder{from: t.measure.MeasuredSince, until: t.measuredUntil.Load}
	t.watch = clock.NewWatch(t.pauses.wakeUp)
	if t.startedAt == 0 {
		t.startedAt = clock.Now()
		if load.Schedule != nil {
			t.startedAt += int64(runUp)
		}
	}
	t.measuredUntil.Store(math.MaxInt64)
	if !load.Warmup.Auto {
		t.beginMeasuring(t.startedAt + int64(load.Warmup.For)) // before listen, which tells the consumers of it
	}
	for _, p := range w.producers {
		p.begin(t)
	}
	w.consuming.listen(t)
	return t
}

func (t *trial) course() course {
	return course{start: t.startedAt, messages: t.load.Messages, main: t.load.Schedule, warmup: t.load.Before}
}

// halt ends sending. Any goroutine may call it, more than once.
func (t *trial) halt() { t.stopOnce.Do(func() { close(t.stop) }) }

// newTimer returns a timer for waiting for the broker. It stops while this process stands still, for which the broker is not to blame.
func (t *trial) newTimer() *clock.Timer { return clock.NewTimer(t.watch) }

// measuredPhase returns the measured phase as far as it is fixed.
func (t *trial) measuredPhase() phaseTimes {
	return phaseTimes{From: t.measure.MeasuredSince(), Until: t.measuredUntil.Load()}
}

// beginMeasuring fixes when the measured phase begins, and when it ends if time ends it. Only the first call has an effect.
func (t *trial) beginMeasuring(from int64) {
	t.phaseFixed.Do(func() {
		if t.announce != nil {
			from = t.announce(from)
		}
		t.measure.MeasureFrom(from)
		t.measuredUntil.Store(t.phaseEnd(from))
		if t.load.Measuring != nil {
			t.load.Measuring(from)
		}
	})
}

// phaseEnd returns when a measured phase that begins at from ends; math.MaxInt64 if a number of messages ends it, or if from
// is not decided yet.
func (t *trial) phaseEnd(from int64) int64 {
	if t.load.Messages > 0 || from == measure.Undecided {
		return math.MaxInt64
	}
	return from + int64(t.load.Duration)
}

// checkPhase returns an ErrLate if the trial learned too late when its measured phase begins.
func (t *trial) checkPhase() error {
	if t.learnedLate.Load() {
		return lateError("it was told too late when the measured phase began: the messages of that phase can't be told from those of the warm-up")
	}
	return nil
}

// fixMeasuredPhase makes sure that a trial that has ended has a measured phase, which is empty if its warm-up was not over. If err ended
// the trial, the phase ends with the sending, so that rates don't count a time in which nothing was sent.
func (t *trial) fixMeasuredPhase(err error) {
	t.phaseFixed.Do(func() { t.measure.MeasureFrom(t.sendingEndedAt) })
	if err != nil {
		t.measuredUntil.Store(min(t.measuredUntil.Load(), t.sendingEndedAt))
	}
}

// outcome stops the booking, closes the books and returns their content. Producers have ended by now.
func (w *Worker) outcome(t *trial, o *observer, err error) Outcome {
	consumers, endErr := w.consuming.end(t)
	if err == nil {
		err = endErr
	}
	t.watch.Close()
	t.fixMeasuredPhase(err)
	phase := t.measuredPhase()
	out := Outcome{
		Start: t.startedAt, From: phase.From, Until: phase.Until,
		LastReceived: consumers.Span.Last, Working: consumers.Working, Pauses: t.pauses.pauses().Union(consumers.Pauses),
		Hopeless: o.hopeless, BacklogMax: o.backlogMax, Samples: o.samples.Values(),
		Producers: len(w.producers), Err: err,
	}
	for _, p := range w.producers {
		p.bookUnresolved(t)
		p.bookUnsent(t)
		p.addTo(&out)
	}
	if out.Until == math.MaxInt64 { // a number of messages: the last one ends the phase; without any, it is empty
		out.Until = max(out.From, out.LastSent)
	}
	phase.Until = out.Until
	out.Undelivered, out.Unconfirmed = o.delivered.end(phase), o.confirmed.end(phase)
	w.addBooks(&out, t)
	return out
}

// addBooks adds what producers and consumers have booked to an outcome that has the bounds of the measured phase.
func (w *Worker) addBooks(out *Outcome, t *trial) {
	m := t.measure
	if due := t.course().dueCounter(&w.plan); due != nil {
		warmup := due.count(out.From, out.Start, out.From) // first, because a dueCounter should be asked in the order of time
		m.SetDue(warmup, due.count(out.From, out.From, out.Until))
	}
	out.Warmup, out.Measured = m.Books(measure.Warmup), m.Books(measure.Measured)
	out.Histograms = m.Histograms(measure.Measured)
	out.Streams = w.plan.ownStreams(m.Streams(t.load.Streams))
	out.Early = m.Early()
	if w.plan.Peers != nil {
		shard := m.Shard()
		out.Shard = &shard
	}
}
