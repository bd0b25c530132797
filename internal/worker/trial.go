package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// trial is one running trial. All times are ns on the clock's axis.
//
// A trial sends (warm-up, then the measured phase) and drains. A message belongs to the phase in which it was intended to be
// sent, whenever it was sent or received:
//
//	startedAt              From                Until          sendingEndedAt
//	    |     warm-up        |  measured phase   |   late sends     |   drain
type trial struct {
	load        Load
	lagging     laggards
	filling     *measure.Histograms // until the draining of a backlog began, if consumers that lag are counted apart
	recording   *recording          // this process's records of it; decides From and Until
	startedAt   int64               // when the schedule begins
	procs       int                 // threads that may run Go code at once
	learnedLate atomic.Bool         // Hooks.MeasureFrom returned a time that was too near

	stop           chan struct{} // closed to end sending (halt)
	stopOnce       sync.Once
	sendingDone    atomic.Bool // all clients have sent their last message
	sendingEndedAt int64       // when that was; valid when sendAll has returned
}

// Run runs one trial and blocks until it has drained or its allowance is used up. Only one trial may run at a time. If ctx ends
// it early, the outcome holds what was measured until then, with Err set.
func (w *Worker) Run(ctx context.Context, load Load) Outcome {
	if err := w.plan.checkLoad(load); err != nil {
		return Outcome{Err: err}
	}
	procs := w.threadsFor(load)
	before := clock.SetThreads(procs)
	defer clock.SetThreads(before)
	t := w.begin(load, procs)
	t.recording.watchEffort(w.plan.Heap)
	o := newObserver(w, t)
	var observing sync.WaitGroup
	drained := make(chan struct{})
	observing.Go(func() { o.run(drained) })

	out := w.sendAndDrain(ctx, t)
	close(drained)
	observing.Wait()
	w.listenOn(ctx, t, &out)
	w.finish(t, o, &out)
	return out
}

// runUp is the time between the beginning of a trial and its first message. Without it, the time that the producers take to start
// would count as lag.
const runUp = 20 * time.Millisecond

// begin makes a trial and lets producers and consumers book in it. Nothing is sent yet.
func (w *Worker) begin(load Load, procs int) *trial {
	shape := measure.Shape{
		Producers:     w.plan.producerIDs(),
		Consumers:     len(w.plan.Consumers),
		Subscriptions: len(w.plan.Topology.Subscriptions),
		ShortPayload:  w.bodies.untimed(),
		Outstanding:   4 * w.plan.InFlight,
	}
	var orderedKeys *keyChooser
	if w.plan.KeyOrdered {
		orderedKeys = w.keys
	}
	t := &trial{
		load: load, lagging: w.plan.laggingConsumers(), recording: newRecording(shape, orderedKeys), startedAt: load.Start, procs: procs,
		stop: make(chan struct{}),
	}
	w.plan.markLagging(t)
	t.expectPeers(load.Peers)
	if t.startedAt == 0 {
		t.startedAt = clock.Now()
		if load.Schedule != nil {
			t.startedAt += int64(runUp)
		}
	}
	if !load.Warmup.Auto {
		t.beginMeasuring(t.startedAt + int64(load.Warmup.For)) // before listen, which tells the consumers of it
	}
	for _, c := range w.clients {
		c.begin(t)
	}
	w.consumers.listen(t)
	return t
}

// sendAndDrain sends the load and waits for confirmations and deliveries. The outcome says how that ended; finish adds the rest.
func (w *Worker) sendAndDrain(ctx context.Context, t *trial) Outcome {
	var out Outcome
	if out.Err = w.checkStart(t.load); out.Err != nil {
		t.sendingEndedAt = clock.Now()
		return out // nothing was sent, so nothing will come
	}
	out.Err = w.sendAll(ctx, t, t.course())
	if out.Err == nil && t.load.Backlog != nil {
		out.Backlog, out.Err = w.drainBacklog(ctx, t)
	}
	if !errors.Is(out.Err, ErrRanDry) { // drainBacklog has waited already
		w.drain(ctx, t, &out)
	}
	return out
}

// course returns what the trial sends first. In a backlog trial, drainBacklog may send another course after it.
func (t *trial) course() course {
	return course{start: t.startedAt, messages: t.load.Messages, main: t.load.Schedule, warmup: t.load.Before}
}

// halt ends sending. Any goroutine may call it, more than once.
func (t *trial) halt() { t.stopOnce.Do(func() { close(t.stop) }) }

// newTimer returns a timer for waiting for the broker. It stops while this process stands still, which is not the broker's fault.
func (t *trial) newTimer() *clock.Timer { return clock.NewTimer(t.recording.watch) }

// finish ends the booking and completes the outcome. Producers and observer have ended by now. The last send may decide when the
// measured phase ended, and the phase decides which messages count as unsent in it.
func (w *Worker) finish(t *trial, o *observer, out *Outcome) {
	out.Ended = clock.Now()
	consumers, err := w.consumers.end(t)
	out.Err = bothErrors(out.Err, err)
	t.recording.watch.Close()
	out.Busiest = busier(t.recording.effort.end(), consumers.Busiest)
	for _, c := range w.clients {
		c.activity.Load().addTo(out)
		for i := range c.streams {
			out.Preparing = max(out.Preparing, c.streams[i].work.busyShare(w.plan.ProducerDelay))
		}
	}
	phase := t.finalPhase(out.LastSent, w.lastIntended(), out.Err)
	for _, c := range w.clients {
		c.bookUnresolved(t)
		out.hold(c.objections.held(phase))
		c.activity.Store(new(activity)) // outcomes that come from now on belong to no trial
		c.bookUnsent(t)
	}
	out.Start, out.From, out.Until = t.startedAt, phase.From, phase.Until
	out.LastReceived, out.Working, out.Dropped, out.Others = consumers.Span.Last, consumers.Working, consumers.Dropped, consumers.Others
	out.Pauses = t.recording.pauses.pauses().Union(consumers.Pauses)
	out.Producers, out.Procs = len(w.clients), t.procs
	out.Hopeless = o.hopeless
	out.BacklogMax = o.backlogMax
	out.Samples = o.samples.Values()
	out.DeliverySilences, out.ConfirmationSilences = o.delivered.silences(phase), o.confirmed.silences(phase)
	w.addBooks(t, phase, out)
}

// bothErrors returns the errors of two steps as one. It leaves out the second if it is the first again, because the failure that
// ends a trial is returned by every later step.
func bothErrors(first, second error) error {
	if second == nil || errors.Is(first, second) {
		return first
	}
	return errors.Join(first, second)
}

// wordedError is an error with a text of its own, which errors.Is takes for kind.
type wordedError struct {
	text string
	kind error
}

func (e wordedError) Error() string { return e.text }
func (e wordedError) Unwrap() error { return e.kind }

// addBooks adds what producers and consumers have booked to the outcome of a trial with this measured phase.
func (w *Worker) addBooks(t *trial, phase phaseTimes, out *Outcome) {
	books := t.recording.books
	if due := t.course().newDueCounter(&w.plan); due != nil { // nil: all sent and unsent messages count as due
		warmup := due.count(phase.From, t.startedAt, phase.From) // first, because a dueCounter should be asked in the order of time
		books.SetDue(warmup, due.count(phase.From, phase.From, phase.Until))
	}
	out.Warmup, out.Measured = books.Books(measure.Warmup), books.Books(measure.Measured)
	w.bookMissing(t, out)
	out.Histograms = books.Histograms(measure.Measured)
	if t.filling != nil {
		out.Filling, out.Histograms = t.filling.EndToEnd, out.Histograms.Sub(*t.filling)
	}
	out.Streams = w.plan.ownStreams(books.Streams(t.load.Streams))
	out.Early = books.Early()
	if w.plan.Peers != nil {
		shard := books.Shard()
		out.Shard = &shard
	}
}
