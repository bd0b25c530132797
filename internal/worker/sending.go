package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// endGrace is how long a client may take, once sending is to end, to hand over the messages that it has accepted.
const endGrace = time.Second

// errHeld is the reason of messages that we gave up on. It takes the place of the driver's error: a driver that cuts a
// connection under a blocked write calls the connection lost, but we cut it.
var errHeld = heldError{}

type heldError struct{}

func (heldError) Error() string {
	return "the client still held messages back when the drain allowance was used up"
}

func (heldError) Is(target error) bool { return target == context.DeadlineExceeded }

// sendAll sends a course, with one goroutine for each client. It blocks until everything is sent, ctx ends, a consumer fails, or nothing
// moves any more. After that no client is sending.
func (w *Worker) sendAll(ctx context.Context, t *trial, c course) error {
	s := w.startSending(ctx, t, c)
	defer s.cancel(nil)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	idle, late := newIdle(t), newLateness(t)
	for {
		select {
		case <-s.over:
			return errors.Join(errors.Join(s.flushErrs...), w.failure.get(), t.checkPhase())
		case <-w.failure.happened:
			return s.end(w.failure.err)
		case <-ctx.Done():
			return s.end(ctx.Err())
		case <-tick.C:
		}
		if t.load.Messages > 0 && idle.tooLong() {
			return s.end(idle.err())
		}
		if late.tooLong() {
			// Messages that are due and still wait for a slot may be sent late, but not for ever. This is no error of the trial: its
			// books say which messages were not sent.
			_ = s.end(errHeld)
			return t.checkPhase()
		}
	}
}

// sending is a course that is being sent.
type sending struct {
	worker    *Worker
	trial     *trial
	over      chan struct{}           // closed when all clients have ended
	flushErrs []error                 // by client; valid once over is closed
	cancel    context.CancelCauseFunc // cuts off every Send and Flush that still blocks
}

// startSending lets every client send its share of the course.
func (w *Worker) startSending(ctx context.Context, t *trial, c course) *sending {
	s := &sending{worker: w, trial: t, flushErrs: make([]error, len(w.producers)), over: make(chan struct{})}
	// Without a context to cancel, a Send to a broker that has stopped answering would block for ever.
	ctx, s.cancel = context.WithCancelCause(ctx)
	if c.messages > 0 {
		c.limits = w.plan.limits(c.main, c.messages)
	}
	sleepers := newSleepers(len(w.producers))
	var clients sync.WaitGroup
	for i, p := range w.producers {
		clients.Go(func() { s.flushErrs[i] = w.sendShare(ctx, p, t, c, sleepers) })
	}
	go func() {
		clients.Wait()
		sleepers.close()
		if !t.sendingDone.Swap(true) && t.load.Sent != nil {
			t.load.Sent()
		}
		close(s.over)
	}()
	return s
}

// end stops the clients, blocks until they have ended, and returns why. A client that waits for the broker is cut off after endGrace;
// why is then kept as the reason of the messages that fail.
func (s *sending) end(why error) error {
	s.trial.halt()
	select {
	case <-s.over:
	case <-time.After(endGrace):
		for _, p := range s.worker.producers {
			p.activity.Load().noteFailure(why)
		}
		s.cancel(why)
		<-s.over
	}
	return why
}

// sendShare sends one client's share of a course. It returns the error of the flush at the end.
func (w *Worker) sendShare(ctx context.Context, p *producer, t *trial, c course, sleepers sleepers) error {
	if c.main == nil {
		t.awaitStart(ctx)
		p.segments = []*segment{{start: c.start, until: t.measuredUntil.Load, limit: c.limit(p.index)}}
		return p.closedLoop(ctx, t, p.segments[0])
	}
	sleeper := sleepers.next()
	defer sleeper.Close()
	main := w.plan.segment(c.main, p.index, c.start, t.measuredUntil.Load)
	main.limit = c.limit(p.index)
	warmupSent := true
	if c.warmup != nil {
		warmup := w.plan.segment(c.warmup, p.index, c.start, t.measure.MeasuredSince)
		p.segments = append(p.segments, warmup)
		warmupSent = p.openLoop(ctx, t, warmup, sleeper)
		main.start = t.measure.MeasuredSince()
	}
	p.segments = append(p.segments, main) // also if the warm-up was stopped: what is due of it is booked as unsent
	if warmupSent {
		p.openLoop(ctx, t, main, sleeper)
	}
	return p.client.Flush(ctx)
}

// awaitStart blocks until the trial's start, which may be a time ahead that several workers were given, or until it is stopped.
func (t *trial) awaitStart(ctx context.Context) {
	select {
	case <-time.After(time.Duration(t.startedAt - clock.Now())):
	case <-t.stop:
	case <-ctx.Done():
	}
}
