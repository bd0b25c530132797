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

// trial is one running trial.
type trial struct {
	load    Load
	start   int64
	until   atomic.Int64 // messages intended from here on aren't sent
	measure *measure.Trial
	watch   *clock.Watch
	pauses  *pauses
	stop    chan struct{} // closed to end sending
	sent    atomic.Bool   // all producers have sent their last message
	keyOf   measure.KeyOf
	procs   int // threads that may run Go code at once
	// announce, where not nil, tells consumers in another process when the measured phase is to begin, and returns when it
	// begins, which is not before from.
	announce func(from int64) int64
	decided  sync.Once
	halted   sync.Once

	ended int64 // when the producers had sent their last message
}

func (t *trial) course() course {
	return course{start: t.start, messages: t.load.Messages, main: t.load.Schedule, warmup: t.load.Before}
}

// settleBounds fixes the measured phase of a trial that ended before its warm-up or its time was over: a rate over time
// that never came would be a fiction.
func (t *trial) settleBounds(err error) {
	t.decided.Do(func() { t.measure.MeasureFrom(t.ended) })
	if err != nil {
		t.until.Store(min(t.until.Load(), t.ended))
	}
}

// halt ends sending.
func (t *trial) halt() { t.halted.Do(func() { close(t.stop) }) }

// Run runs one trial and blocks until it has drained or its allowance is used up. Only one may run at a time. ctx
// ends it early: what was measured until then is in the outcome, with Err set.
func (w *Worker) Run(ctx context.Context, load Load) Outcome {
	if err := w.plan.shares(load); err != nil {
		return Outcome{Err: err}
	}
	procs, restore := w.economise(load)
	defer restore()
	t := w.begin(load, procs)
	var observing sync.WaitGroup
	ended := make(chan struct{})
	observer := newObserver(t, &w.plan)
	observing.Go(func() { observer.run(ended) })

	err := w.listening(load)
	if err == nil {
		err = w.sendAll(ctx, t, t.course())
	}
	t.ended = clock.Now()
	var backlog Drained
	if load.Backlog != nil && err == nil {
		backlog, err = w.drainBacklog(ctx, t)
	}
	var came arrivals
	if !errors.Is(err, ErrRanDry) && err != (missedStart{}) { // else the drain of the backlog has waited long enough, or nothing will come
		came, err = w.awaitArrivals(ctx, t, err)
	}
	close(ended)
	observing.Wait()
	out := w.outcome(t, observer, err)
	out.Drained, out.Arriving, out.Overdue = came.complete, came.late, came.overdue
	out.Backlog, out.Procs = backlog, procs
	return out
}

// runUp is how long before its schedule a trial begins: what its goroutines and threads take to get going is no lag.
const runUp = 20 * time.Millisecond

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
	t := &trial{load: load, procs: procs, start: load.Start, measure: measure.NewTrial(shape), stop: make(chan struct{})}
	t.meet(load.Elsewhere)
	t.pauses = &pauses{from: t.measure.MeasuredSince, until: t.until.Load}
	t.watch = clock.NewWatch(t.pauses.woke)
	if t.start == 0 {
		t.start = clock.Now()
		if load.Schedule != nil {
			t.start += int64(runUp)
		}
	}
	t.until.Store(math.MaxInt64)
	if !load.Warmup.Auto {
		t.decide(t.start + int64(load.Warmup.For))
	}
	for _, p := range w.producers {
		p.begin(t)
	}
	if shape.Keys > 0 {
		t.keyOf = w.keys.of
	}
	w.consuming.listen(t)
	return t
}

// decide fixes when the measured phase begins and, where time ends it, when it ends.
func (t *trial) decide(from int64) {
	t.decided.Do(func() {
		if t.announce != nil {
			from = t.announce(from)
		}
		t.measure.MeasureFrom(from)
		t.until.Store(t.untilOf(from))
		if t.load.Measuring != nil {
			t.load.Measuring(from)
		}
	})
}

// untilOf is when the measured phase ends that begins at from.
func (t *trial) untilOf(from int64) int64 {
	if t.load.Messages > 0 || from == measure.Undecided {
		return math.MaxInt64
	}
	return from + int64(t.load.Duration)
}

// outcome takes the recorders off, closes the books and says what they hold.
func (w *Worker) outcome(t *trial, o *observer, err error) Outcome {
	heard, unheard := w.consuming.end(t)
	if err == nil {
		err = unheard
	}
	t.watch.Close()
	t.settleBounds(err)
	out := Outcome{
		Start: t.start, From: t.measure.MeasuredSince(), Until: t.until.Load(), Pauses: t.pauses.outcome().with(heard.Pauses),
		Hopeless: o.hopeless, Producers: len(w.producers), BacklogMax: o.backlog, Samples: o.samples.Values(), Err: err,
	}
	out.Undelivered, out.Unconfirmed = o.delivered.end(out.From, out.Until), o.confirmed.end(out.From, out.Until)
	for _, p := range w.producers {
		p.bookUnresolved(t)
		p.bookUnsent(t, t.ended)
		p.addTo(&out)
	}
	out.LastReceived, out.Working = heard.Span.Last, heard.Working
	if out.Until == math.MaxInt64 {
		out.Until = out.LastSent
	}
	if t.load.Schedule != nil && t.load.Messages == 0 {
		a := t.course().agenda(&w.plan)
		warmup := a.due(out.From, out.Start, out.From)
		t.measure.Scheduled(warmup, a.due(out.From, out.From, out.Until))
	}
	out.Warmup, out.Measured = t.measure.Books(measure.Warmup), t.measure.Books(measure.Measured)
	out.Histograms = t.measure.Histograms(measure.Measured)
	out.Streams = t.measure.Streams(t.load.Streams)
	out.Early = t.measure.Early()
	if w.plan.Beyond != nil {
		shard := t.measure.Shard()
		out.Shard = &shard
	}
	return out
}
