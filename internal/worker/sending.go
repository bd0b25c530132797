package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// endGrace is how long a client may take, once sending is to end, to hand over the messages that it
// has accepted.
const endGrace = time.Second

// errHeld is the reason of messages that we gave up on. It takes the place of the driver's error: a
// driver that cuts a connection under a blocked write calls the connection lost, but we cut it.
var errHeld error = wordedError{
	text: "the client still held messages back when the drain allowance was used up", kind: context.DeadlineExceeded,
}

// sendAll sends a course, with one goroutine for each client. It blocks until everything is sent, ctx
// ends, a consumer fails, or nothing moves any more. After that no client is sending.
//
// Errors of Flush are returned only if all was sent. After a stop they say no more than that it was stopped.
func (w *Worker) sendAll(ctx context.Context, t *trial, c course) error {
	s := w.startSending(ctx, t, c)
	defer s.cancel(nil)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := newPatience(t)
	for {
		select {
		case <-s.over:
			return errors.Join(errors.Join(s.flushErrs...), w.failure.get(), t.checkPhase())
		case <-w.failure.happened:
			return s.stop(w.failure.err)
		case <-ctx.Done():
			return s.stop(ctx.Err())
		case <-tick.C:
			if err := limit.stalled(); err != nil {
				return s.stop(err)
			}
			if limit.overdue() { // no failure of the trial: its books say which messages were not sent
				s.stop(errHeld)
				return t.checkPhase()
			}
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
	limits := c.limits(&w.plan)
	timers := newSleepers(len(w.producers))
	var clients sync.WaitGroup
	for i, p := range w.producers {
		clients.Go(func() {
			p.sendShare(ctx, t, c, limits[i], timers)
			s.flushErrs[i] = p.client.Flush(ctx)
		})
	}
	go func() {
		clients.Wait()
		timers.close()
		if !t.sendingDone.Swap(true) && t.load.Sent != nil {
			t.load.Sent()
		}
		close(s.over)
	}()
	return s
}

// stop stops the clients, blocks until they have ended, and returns why. A client that waits for the
// broker is cut off after endGrace; why is then kept as the reason of the messages that fail.
func (s *sending) stop(why error) error {
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

// sendShare sends this client's share of a course: of the main schedule, limit messages at most. It
// blocks until that is done or the trial is stopped. p.segments then says how far it came.
func (p *producer) sendShare(ctx context.Context, t *trial, c course, limit int64, timers sleepers) {
	main := p.worker.plan.segment(c.main, p.index, c.start, t.recording.measuredUntil.Load)
	main.limit = limit
	if c.main == nil {
		p.sendClosedLoop(ctx, t, main)
		return
	}
	timer := timers.next()
	defer timer.Close()
	if c.warmup == nil {
		p.segments = append(p.segments, main)
		p.sendSegment(ctx, t, main, timer)
		return
	}
	warmup := p.worker.plan.segment(c.warmup, p.index, c.start, t.recording.books.MeasuredSince)
	p.segments = append(p.segments, warmup, main) // both, however far it comes: what is due and not sent is booked
	finished := p.sendSegment(ctx, t, warmup, timer)
	main.start = t.recording.books.MeasuredSince() // known once the warm-up has ended
	if finished {
		p.sendSegment(ctx, t, main, timer)
	}
}

// sendClosedLoop sends a segment without a schedule, with as many messages outstanding as the trial's window allows.
func (p *producer) sendClosedLoop(ctx context.Context, t *trial, s *segment) {
	release := p.reserveSlots(t.load.Window)
	defer release()
	t.awaitStart(ctx)
	p.segments = append(p.segments, s)
	p.sendSegment(ctx, t, s, nil)
}

// awaitStart blocks until the trial's start, which may be a time ahead that several workers were
// given, or until it is stopped.
func (t *trial) awaitStart(ctx context.Context) {
	select {
	case <-time.After(time.Duration(t.startedAt - clock.Now())):
	case <-t.stop:
	case <-ctx.Done():
	}
}
