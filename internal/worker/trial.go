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
type trial struct {
	load      Load
	startedAt int64 // when the schedule begins
	measure   *measure.Trial
	watch     *clock.Watch
	pauses    *pauseRecorder
	keyOf     measure.KeyOf // nil unless order is promised for each key
	procs     int           // threads that may run Go code at once

	phaseControl

	stop           chan struct{} // closed to end sending
	stopOnce       sync.Once
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
		p.activity.Load().addTo(&out)
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
