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
	// announce, where not nil, tells those who have to know beforehand when the measured phase begins, and says when it then
	// does: not before from.
	announce func(from int64) int64
	decided  sync.Once
	halted   sync.Once

	arriving bool  // Outcome.Arriving
	overdue  int64 // Outcome.Overdue
	hushed   bool  // nothing has come for so long that nothing more is waited for
	ended    int64 // when everything had been sent that was to be
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
	procs, restore := w.economise(load)
	defer restore()
	t := w.begin(load, procs)
	var observing sync.WaitGroup
	ended := make(chan struct{})
	observer := newObserver(t, &w.plan)
	observing.Go(func() { observer.run(ended) })

	err := w.sendAll(ctx, t, t.course())
	t.ended = clock.Now()
	var backlog Drained
	if load.Backlog != nil && err == nil {
		backlog, err = w.drainBacklog(ctx, t)
	}
	drained := false
	if errors.Is(err, ErrRanDry) {
		t.hushed = true // as long as that takes has been waited already
	} else {
		drained = w.drain(ctx, t, load.Drain, load.Brisk, &err)
	}
	if !drained && !t.hushed && load.Settle > load.Drain && err == nil {
		w.settle(ctx, t, &err)
	}
	close(ended)
	observing.Wait()
	out := w.close(t, observer, drained, err)
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
		p.blame, p.legs = blame{}, nil
		for i := range p.streams {
			s := &p.streams[i]
			s.recorder = nil
			t.measure.Base(s.plan.ID, s.seq)
		}
		p.sending.Store(0)
		p.blocked.Store(0)
		p.first.Store(0)
		p.last.Store(0)
		p.lastAck.Store(0)
		p.failure.Store(nil)
	}
	var keyOf measure.KeyOf
	if shape.Keys > 0 {
		keyOf = w.keys.of
	}
	t.keyOf = keyOf
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

// endGrace is how long a client that is to end may take to hand over what it has accepted.
const endGrace = time.Second

// errHeld is why messages failed that were given up on. That is our doing: a driver that cuts the connection under a
// blocked write calls it lost.
var errHeld = heldError{}

type heldError struct{}

func (heldError) Error() string {
	return "the client still held messages back when the drain allowance was used up"
}

func (heldError) Is(target error) bool { return target == context.DeadlineExceeded }

// sendAll runs the producers until the trial has sent everything, ctx ends, a consumer fails or nothing moves any more.
func (w *Worker) sendAll(ctx context.Context, t *trial, c course) error {
	// A Send that waits for a broker that has stopped answering would wait for ever.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var sending sync.WaitGroup
	if c.messages > 0 {
		c.limits = w.plan.deal().Limits(c.main, c.messages)
	}
	flushed := make(chan error, len(w.producers))
	sleep, release := sleepers(len(w.producers))
	for i, p := range w.producers {
		sending.Go(func() { flushed <- w.sendOne(ctx, p, i, t, c, sleep) })
	}
	sent := make(chan struct{})
	go func() {
		sending.Wait()
		release()
		if !t.sent.Swap(true) && t.load.Sent != nil {
			t.load.Sent()
		}
		close(sent)
	}()
	end := func(why error) error {
		t.halt()
		select {
		case <-sent:
		case <-time.After(endGrace):
			for _, p := range w.producers {
				p.keepFirstFailure(why) // of what fails from now on, if nothing has until now
			}
			cancel(why)
			<-sent
		}
		return why
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	idle := newIdle(t)
	late := lateness{trial: t, timer: t.newTimer()}
	for {
		select {
		case <-sent:
			var err error
			for range w.producers {
				err = errors.Join(err, <-flushed)
			}
			return errors.Join(err, w.broken.now())
		case <-w.broken.is:
			return end(w.broken.err)
		case <-ctx.Done():
			return end(ctx.Err())
		case <-tick.C:
			switch {
			case t.load.Messages > 0 && idle.tooLong():
				return end(idle.err())
			case late.tooLong():
				// Claims that are still waiting may be sent late, but not for ever.
				_ = end(errHeld) // not an error of the trial: what was not sent stands in its books
				return nil
			}
		}
	}
}

func (w *Worker) sendOne(ctx context.Context, p *producer, i int, t *trial, c course, sleep func() sleeper) error {
	if c.main == nil {
		p.legs = []*leg{{start: c.start, until: t.until.Load, limit: c.limit(i)}}
		return p.closedLoop(ctx, t, p.legs[0])
	}
	sleeper := sleep()
	defer sleeper.Close()
	main := w.plan.leg(c.main, i, c.start)
	main.until, main.limit = t.until.Load, c.limit(i)
	whole := true
	if c.warmup != nil {
		first := w.plan.leg(c.warmup, i, c.start)
		first.until = t.measure.MeasuredSince
		p.legs = append(p.legs, first)
		whole = p.openLoop(ctx, t, first, sleeper)
		main.start = t.measure.MeasuredSince()
	}
	p.legs = append(p.legs, main)
	if whole {
		p.openLoop(ctx, t, main, sleeper)
	}
	return p.flush(ctx)
}

const (
	quiet = time.Second     // nothing may arrive for so long before a lossy drain ends
	gust  = 5 * time.Second // some brokers let go of what they hold only every few seconds
)

// patience is how long a drain waits for another delivery when only deliveries are missing: at most once they may be
// lost, and a search has more trials to run.
func (t *trial) patience() time.Duration {
	if t.load.Lossy {
		return quiet
	}
	return min(gust, t.load.Drain/2)
}

// stillArriving tells, when an allowance is used up, whether what is missing may be late: something came lately.
func stillArriving(silent, allowance time.Duration) bool { return silent < min(gust, allowance/2) }

// settle waits for what is still under way after a drain that failed.
func (w *Worker) settle(ctx context.Context, t *trial, err *error) {
	t.overdue = w.missing(t)
	w.drain(ctx, t, t.load.Settle-t.load.Drain, true, err)
	if t.hushed && !t.load.Brisk {
		t.arriving = false // what is missing now is lost
	}
}

// missing counts the deliveries still to come.
func (w *Worker) missing(t *trial) int64 {
	w.consuming.collect(t)
	return t.measure.Missing()
}

// drain blocks until everything sent has been confirmed and received, and tells whether that was within the
// allowance. hasty, and at most once, it ends when nothing has come for a while.
func (w *Worker) drain(ctx context.Context, t *trial, allowance time.Duration, hasty bool, err *error) bool {
	waited, still := t.newTimer(), t.newTimer()
	last := t.measure.Count()
	for {
		now := t.measure.Count()
		resolved := now.Sent == now.Acked+now.Failed
		if resolved && now.Received >= (now.Sent-now.Failed)*int64(t.measure.Subscriptions()) &&
			(now.Failed == 0 || w.missing(t) == 0) {
			return true
		}
		if now.Received != last.Received || now.Acked != last.Acked {
			still.Reset()
		}
		last = now
		if waited.Awake() > allowance {
			t.arriving = stillArriving(still.Awake(), allowance)
			return false
		}
		if (hasty || t.load.Lossy) && resolved && still.Awake() > t.patience() {
			t.hushed = true
			return false
		}
		select {
		case <-ctx.Done():
			*err = errors.Join(*err, ctx.Err())
			return false
		case <-w.broken.is:
			*err = errors.Join(*err, w.broken.err)
			return false
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// close takes the recorders off and closes the books.
func (w *Worker) close(t *trial, o *observer, drained bool, err error) Outcome {
	heard, unheard := w.consuming.end(t)
	if err == nil {
		err = unheard
	}
	t.watch.Close()
	t.settleBounds(err)
	out := Outcome{
		Start: t.start, From: t.measure.MeasuredSince(), Until: t.until.Load(), Pauses: t.pauses.outcome().with(heard.Pauses),
		Drained: drained, Arriving: t.arriving, Overdue: t.overdue, Hopeless: o.hopeless, Producers: len(w.producers), BacklogMax: o.backlog, Samples: o.samples.Values(), Err: err,
	}
	out.Undelivered, out.Unconfirmed = o.delivered.end(out.From, out.Until), o.confirmed.end(out.From, out.Until)
	for _, p := range w.producers {
		p.bookUnresolved(t)
		p.bookUnsent(t, t.ended)
		if e := p.failure.Load(); e != nil {
			out.SendErr = *e
		}
		out.Blocked += time.Duration(p.blocked.Load())
		out.Sending += time.Duration(p.sending.Load())
		out.LastSent = max(out.LastSent, p.last.Load())
		out.LastAcked = max(out.LastAcked, p.lastAck.Load())
		if f := p.first.Load(); f != 0 && (out.FirstSent == 0 || f < out.FirstSent) {
			out.FirstSent = f
		}
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
	return out
}
