package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

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

// sending is the producers of a trial while they send.
type sending struct {
	worker  *Worker
	trial   *trial
	flushed chan error    // one for each producer
	over    chan struct{} // closed when all producers have ended
	cancel  context.CancelCauseFunc
}

// startSending lets every producer send its part of the course.
func (w *Worker) startSending(ctx context.Context, t *trial, c course) *sending {
	s := &sending{worker: w, trial: t, flushed: make(chan error, len(w.producers)), over: make(chan struct{})}
	// A Send that waits for a broker that has stopped answering would wait for ever.
	ctx, s.cancel = context.WithCancelCause(ctx)
	if c.messages > 0 {
		c.limits = w.plan.deal().Limits(c.main, c.messages)
	}
	sleep, release := sleepers(len(w.producers))
	var producers sync.WaitGroup
	for _, p := range w.producers {
		producers.Go(func() { s.flushed <- w.sendOne(ctx, p, t, c, sleep) })
	}
	go func() {
		producers.Wait()
		release()
		if !t.sent.Swap(true) && t.load.Sent != nil {
			t.load.Sent()
		}
		close(s.over)
	}()
	return s
}

// end stops the producers, those that wait for the broker as well.
func (s *sending) end(why error) {
	s.trial.halt()
	select {
	case <-s.over:
	case <-time.After(endGrace):
		for _, p := range s.worker.producers {
			p.keepFirstFailure(why) // of what fails from now on, if nothing has until now
		}
		s.cancel(why)
		<-s.over
	}
}

// sendAll runs the producers until the trial has sent everything, ctx ends, a consumer fails or nothing moves any more.
func (w *Worker) sendAll(ctx context.Context, t *trial, c course) error {
	s := w.startSending(ctx, t, c)
	defer s.cancel(nil)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	idle := newIdle(t)
	late := lateness{trial: t, timer: t.newTimer()}
	for {
		var why error
		select {
		case <-s.over:
			var err error
			for range w.producers {
				err = errors.Join(err, <-s.flushed)
			}
			return errors.Join(err, w.broken.now())
		case <-w.broken.is:
			why = w.broken.err
		case <-ctx.Done():
			why = ctx.Err()
		case <-tick.C:
			switch {
			case t.load.Messages > 0 && idle.tooLong():
				why = idle.err()
			case late.tooLong():
				// Claims that are still waiting may be sent late, but not for ever. That is no error of the trial: what was not
				// sent stands in its books.
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

// sendOne sends a producer's part: the load before the measured phase, where there is one, and the load itself.
func (w *Worker) sendOne(ctx context.Context, p *producer, t *trial, c course, sleep func() sleeper) error {
	if c.main == nil {
		t.awaitStart(ctx)
		p.legs = []*leg{{start: c.start, until: t.until.Load, limit: c.limit(p.index)}}
		return p.closedLoop(ctx, t, p.legs[0])
	}
	sleeper := sleep()
	defer sleeper.Close()
	main := w.plan.leg(c.main, p.index, c.start)
	main.until, main.limit = t.until.Load, c.limit(p.index)
	whole := true
	if c.warmup != nil {
		first := w.plan.leg(c.warmup, p.index, c.start)
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

// awaitStart blocks until the trial's start, which may be a time ahead that several workers were given, or until it is stopped.
func (t *trial) awaitStart(ctx context.Context) {
	select {
	case <-time.After(time.Duration(t.start - clock.Now())):
	case <-t.stop:
	case <-ctx.Done():
	}
}
