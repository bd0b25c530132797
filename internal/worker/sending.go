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

// sending is a course that is being sent, by one goroutine for each client.
type sending struct {
	worker  *Worker
	trial   *trial
	flushed chan error              // receives one error, or nil, from each client; its buffer holds them all
	over    chan struct{}           // closed when all clients have ended
	cancel  context.CancelCauseFunc // cuts off every Send and Flush that still blocks
}

// startSending lets every client send its share of the course.
func (w *Worker) startSending(ctx context.Context, t *trial, c course) *sending {
	s := &sending{worker: w, trial: t, flushed: make(chan error, len(w.producers)), over: make(chan struct{})}
	// Without a context to cancel, a Send to a broker that has stopped answering would block for ever.
	ctx, s.cancel = context.WithCancelCause(ctx)
	if c.messages > 0 {
		c.limits = w.plan.limits(c.main, c.messages)
	}
	sleep, release := sleepers(len(w.producers))
	var producers sync.WaitGroup
	for _, p := range w.producers {
		producers.Go(func() { s.flushed <- w.sendOne(ctx, p, t, c, sleep) })
	}
	go func() {
		producers.Wait()
		release()
		if !t.sendingDone.Swap(true) && t.load.Sent != nil {
			t.load.Sent()
		}
		close(s.over)
	}()
	return s
}

// end stops the clients and blocks until they have ended. A client that waits for the broker is cut off after endGrace;
// why is then kept as the reason of the messages that fail.
func (s *sending) end(why error) {
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
}

// sendAll sends a course. It blocks until everything is sent, ctx ends, a consumer fails, or nothing moves any more. After
// that no client is sending.
func (w *Worker) sendAll(ctx context.Context, t *trial, c course) error {
	s := w.startSending(ctx, t, c)
	defer s.cancel(nil)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	idle := newIdle(t)
	late := newLateness(t)
	for {
		var why error
		select {
		case <-s.over:
			var err error
			for range w.producers {
				err = errors.Join(err, <-s.flushed)
			}
			return errors.Join(err, w.failure.get(), t.checkPhase())
		case <-w.failure.happened:
			why = w.failure.err
		case <-ctx.Done():
			why = ctx.Err()
		case <-tick.C:
			switch {
			case t.load.Messages > 0 && idle.tooLong():
				why = idle.err()
			case late.tooLong():
				// Messages that are due and still wait for a slot may be sent late, but not for ever. This is no error of the
				// trial: its books say which messages were not sent.
				s.end(errHeld)
				return nil
			}
		}
		if why != nil {
			s.end(why)
			return why
		}
	}
}

// sendOne sends one client's share: of the warm-up's schedule, if the course has one, and of the main schedule, which then
// begins with the measured phase. It returns the error of the flush at the end.
func (w *Worker) sendOne(ctx context.Context, p *producer, t *trial, c course, sleep func() sleeper) error {
	if c.main == nil {
		t.awaitStart(ctx)
		p.segments = []*segment{{start: c.start, until: t.measuredUntil.Load, limit: c.limit(p.index)}}
		return p.closedLoop(ctx, t, p.segments[0])
	}
	sleeper := sleep()
	defer sleeper.Close()
	main := w.plan.segment(c.main, p.index, c.start, t.measuredUntil.Load)
	main.limit = c.limit(p.index)
	warmupSent := true
	if c.warmup != nil {
		first := w.plan.segment(c.warmup, p.index, c.start, t.measure.MeasuredSince)
		p.segments = append(p.segments, first)
		warmupSent = p.openLoop(ctx, t, first, sleeper)
		main.start = t.measure.MeasuredSince()
	}
	p.segments = append(p.segments, main)
	if warmupSent {
		p.openLoop(ctx, t, main, sleeper)
	}
	return p.flush(ctx)
}

// awaitStart blocks until the trial's start, which may be a time ahead that several workers were given, or until it is stopped.
func (t *trial) awaitStart(ctx context.Context) {
	select {
	case <-time.After(time.Duration(t.startedAt - clock.Now())):
	case <-t.stop:
	case <-ctx.Done():
	}
}
