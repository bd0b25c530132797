package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// Each client sends its share of a trial's messages in a goroutine of its own. This file starts these goroutines and waits for
// them. If the trial can't go on, because the broker has died for example, it stops them.

// endGrace is how long a client may take, once sending is to end, to hand over the messages that it has accepted.
const endGrace = time.Second

// errHeld is why messages failed that the client held back for too long. It replaces the driver's error, which would only say
// that the connection was lost, because we cut off a blocked write.
var errHeld error = wordedError{
	text: "the client still held messages back when the drain allowance was used up", kind: context.DeadlineExceeded,
}

// sendAll sends a course, with one goroutine for each client. It blocks until everything is sent, ctx ends, a consumer fails, or
// the watchdog gives up. After that no client is sending.
//
// Errors of Flush are returned only if everything was sent. After a stop they only say that it was stopped.
func (w *Worker) sendAll(ctx context.Context, t *trial, toSend course) error {
	s := w.startSending(ctx, t, toSend)
	defer s.cancel(nil)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	watchdog := &watchdog{trial: t, unchanged: t.newChangeTimer()}
	for {
		select {
		case <-s.over:
			return errors.Join(errors.Join(s.flushErrs...), w.failure.get(), t.checkPhase())
		case <-w.failure.happened:
			s.stop(w.failure.err)
			return w.failure.err
		case <-ctx.Done():
			s.stop(ctx.Err())
			return ctx.Err()
		case <-tick.C:
			if err := watchdog.checkStalled(); err != nil {
				err = fmt.Errorf("%w%s", err, w.heldText())
				s.stop(err)
				return err
			}
			if watchdog.checkOverdue() {
				s.stop(fmt.Errorf("%w%s", errHeld, cmp.Or(w.heldText(), w.silenceText())))
				return t.checkPhase() // not errHeld: the trial stands, and its books say which messages were not sent
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
func (w *Worker) startSending(ctx context.Context, t *trial, toSend course) *sending {
	s := &sending{worker: w, trial: t, flushErrs: make([]error, len(w.clients)), over: make(chan struct{})}
	// Without a context to cancel, a Send to a broker that has stopped answering would block for ever.
	ctx, s.cancel = context.WithCancelCause(ctx)
	limits := toSend.limits(&w.plan)
	sleepers := newSleepers(len(w.clients), w.coalescing.gap)
	var clients sync.WaitGroup
	for i, c := range w.clients {
		clients.Go(func() {
			busiest.Do(ctx, c.name(), func(ctx context.Context) {
				c.sendShare(ctx, t, toSend, limits[i], sleepers)
				s.flushErrs[i] = c.conn.Flush(ctx)
			})
		})
	}
	go func() {
		clients.Wait()
		sleepers.close()
		t.sendingEndedAt = clock.Now()
		if !t.sendingDone.Swap(true) && t.load.Sent != nil {
			t.load.Sent()
		}
		close(s.over)
	}()
	return s
}

// stop stops the clients and blocks until they have ended. A client that still waits for the broker after endGrace is cut off:
// its messages fail with the reason why.
func (s *sending) stop(why error) {
	s.trial.halt()
	select {
	case <-s.over:
	case <-time.After(endGrace):
		for _, c := range s.worker.clients {
			c.activity.Load().noteFailure(why)
		}
		s.cancel(why)
		<-s.over
	}
}

// sendShare sends this client's share of a course: of the main schedule, at most limit messages. It blocks until that is done or
// the trial is stopped. c.segments then says how far it came.
func (c *client) sendShare(ctx context.Context, t *trial, toSend course, limit int64, sleepers sleepers) {
	main := c.worker.plan.newSegment(toSend.main, c.index, toSend.start, t.recording.measuredUntil.Load)
	main.limit = limit
	var sleeper sleeper
	if toSend.main != nil || c.delay() > 0 {
		sleeper = sleepers.next()
		defer sleeper.Close()
	}
	if toSend.main == nil {
		c.sendClosedLoop(ctx, t, main, sleeper)
		return
	}
	if toSend.warmup == nil {
		c.segments = append(c.segments, main)
		c.sendSegment(ctx, t, main, sleeper)
		return
	}
	warmup := c.worker.plan.newSegment(toSend.warmup, c.index, toSend.start, t.recording.books.MeasuredSince)
	c.segments = append(c.segments, warmup, main) // both, also if main is never reached: bookUnsent books its due messages
	finished := c.sendSegment(ctx, t, warmup, sleeper)
	main.start = t.recording.books.MeasuredSince() // known once the warm-up has ended
	if finished {
		c.sendSegment(ctx, t, main, sleeper)
	}
}

// sendClosedLoop sends a segment without a schedule, with as many messages outstanding as the trial's window allows.
func (c *client) sendClosedLoop(ctx context.Context, t *trial, s *segment, sleeper sleeper) {
	reserved := c.reserveSlots(t.load.Window)
	defer c.freeSlots.put(reserved)
	t.awaitStart(ctx)
	c.segments = append(c.segments, s)
	c.sendSegment(ctx, t, s, sleeper)
}

// awaitStart blocks until the trial's start, which may be in the future if several workers were given it, or until the trial is stopped.
func (t *trial) awaitStart(ctx context.Context) {
	select {
	case <-time.After(time.Duration(t.startedAt - clock.Now())):
	case <-t.stop:
	case <-ctx.Done():
	}
}

// watchdog decides when to give up sending. For example, with a drain allowance of 5 s, a broker that has to take 1,000 messages
// and confirms none for 5 s has stalled. Time in which this process stood still doesn't count.
type watchdog struct {
	trial     *trial
	unchanged *changeTimer
	late      *clock.Timer // since a check first saw that the measured phase has ended; nil before
}

// checkStalled returns an error if none of the trial's counts has changed within the drain allowance while a confirmation was
// outstanding. A trial that time ends can't stall. Call it every few milliseconds.
func (w *watchdog) checkStalled() error {
	t := w.trial
	if t.load.Messages == 0 { // time ends it
		return nil
	}
	c := t.recording.books.Count()
	unchanged := w.unchanged.update(c.Sent + c.Acked + c.Failed + c.Received)
	if resolved(c) || unchanged <= t.load.Drain {
		return nil
	}
	return fmt.Errorf("the broker stopped answering: of %d messages sent, %d were confirmed and %d failed, then nothing for %s",
		c.Sent, c.Acked, c.Failed, t.load.Drain)
}

// checkOverdue reports whether the measured phase ended longer ago than the drain allowance. Until then, messages that were due
// in the phase are still sent. Call it every few milliseconds.
func (w *watchdog) checkOverdue() bool {
	if w.late == nil {
		if clock.Now() > w.trial.recording.measuredUntil.Load() {
			w.late = w.trial.newTimer()
		}
		return false
	}
	return w.late.Awake() > w.trial.load.Drain
}

// resolved reports whether every message sent was confirmed or refused.
func resolved(c measure.Count) bool { return c.Sent == c.Acked+c.Failed }

// changeTimer measures how long a count hasn't changed.
type changeTimer struct {
	timer *clock.Timer // since the last change
	count int64
}

func (t *trial) newChangeTimer() *changeTimer { return &changeTimer{timer: t.newTimer()} }

// update takes the present count and returns for how long it has been the same.
func (c *changeTimer) update(count int64) time.Duration {
	if count != c.count {
		c.count = count
		c.timer.Reset()
	}
	return c.timer.Awake()
}
