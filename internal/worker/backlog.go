package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// A backlog trial measures how fast consumers receive the messages that were sent while they were off: messages are
// sent and confirmed first, then the consumers are connected, and the deliveries are timed from when
// the last consumer has registered.

// ErrRanDry ends a trial whose backlog held fewer messages than the broker had confirmed, or whose
// broker stopped delivering.
var ErrRanDry = errors.New("the backlog stopped draining")

// drainBacklog connects the consumers to a backlog that has been sent. It blocks until the wanted
// share of it has been received, or until nothing more comes (ErrRanDry). If the load has a schedule
// for it, producers go on sending meanwhile.
func (w *Worker) drainBacklog(ctx context.Context, t *trial) (BacklogDrain, error) {
	t.awaitConfirmations(ctx)
	if t.load.Filled != nil {
		if err := t.load.Filled(ctx); err != nil {
			return BacklogDrain{}, err
		}
	}
	filled := t.recording.books.Count()
	d := BacklogDrain{Filled: filled.Acked, FilledBytes: filled.Bytes, FilledAt: w.lastAck()}
	connect, cancel := context.WithTimeout(ctx, w.plan.Connect)
	defer cancel()
	last, err := w.consumers.start(connect)
	if err != nil {
		return d, err
	}
	endSending := w.sendMeanwhile(ctx, t)
	err = w.awaitDeliveries(ctx, t, t.wanted(filled.Acked))
	came := w.consumers.span()
	d.To = came.At
	if errors.Is(err, ErrRanDry) { // the time of waiting in vain is no draining
		d.To = came.Last
	}
	d.timeFrom(last, came.First, t.recording.books.Count().Received)
	return d, errors.Join(err, endSending())
}

// awaitConfirmations blocks until every message sent has been confirmed or refused, but no longer than
// the drain allowance.
func (t *trial) awaitConfirmations(ctx context.Context) {
	waited := t.newTimer()
	for waited.Awake() < t.load.Drain && ctx.Err() == nil && !resolved(t.recording.books.Count()) {
		time.Sleep(time.Millisecond)
	}
}

// lastAck returns when the last message so far was confirmed; 0 if none was.
func (w *Worker) lastAck() int64 {
	var last int64
	for _, p := range w.producers {
		last = max(last, p.activity.Load().lastAck.Load())
	}
	return last
}

// sendMeanwhile lets the producers send while the backlog drains, if the load wants that, until end is
// called. No message is due from then on.
func (w *Worker) sendMeanwhile(ctx context.Context, t *trial) (end func() error) {
	c := course{main: t.load.Backlog.Meanwhile, start: clock.Now()}
	if c.main == nil {
		return func() error { return nil }
	}
	ended := make(chan error, 1)
	go func() { ended <- w.sendAll(ctx, t, c) }()
	return func() error {
		t.endMeasuring(clock.Now())
		t.halt()
		err := <-ended
		t.sendingEndedAt = clock.Now()
		return err
	}
}

// drainGoal is when the draining of a backlog ends: after a number of deliveries or a time, whichever comes first. Either may be unlimited.
type drainGoal struct {
	deliveries int64
	within     time.Duration
}

// wanted returns the goal of draining a backlog of so many messages.
func (t *trial) wanted(filled int64) drainGoal {
	b := t.load.Backlog
	all := filled * int64(t.recording.books.Subscriptions())
	switch {
	case b.Ratio > 0:
		return drainGoal{deliveries: int64(b.Ratio * float64(all)), within: unlimited}
	case b.Meanwhile != nil: // messages that are sent meanwhile are drained as well, so only the time ends it
		return drainGoal{deliveries: unlimited, within: b.For}
	}
	return drainGoal{deliveries: all, within: b.For}
}

// awaitDeliveries blocks until a goal is reached. It returns ErrRanDry if nothing comes any more.
func (w *Worker) awaitDeliveries(ctx context.Context, t *trial, goal drainGoal) error {
	began, draining, unchanged := time.Now(), t.newTimer(), t.newStopwatch()
	for {
		received := t.recording.books.Count().Received
		silent := unchanged.since(received)
		if received >= goal.deliveries || time.Since(began) > goal.within {
			return nil
		}
		if most := mostSilence(t.load.Drain, draining.Awake()-silent, received > 0); silent > most {
			return ranDry(received, goal.deliveries, most)
		}
		if err := w.wait(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// ranDry returns an ErrRanDry. wanted may be unlimited.
func ranDry(received, wanted int64, silent time.Duration) error {
	silent = silent.Round(time.Millisecond)
	if wanted == unlimited {
		return fmt.Errorf("%w: %d deliveries, then nothing for %s", ErrRanDry, received, silent)
	}
	return fmt.Errorf("%w: %d of %d deliveries, then nothing for %s", ErrRanDry, received, wanted, silent)
}

// mostSilence returns how long nothing may come from a backlog before the rest counts as missing.
// Before the first delivery that is the whole allowance, and then the time that draining has taken so
// far, within bounds: a broker that has delivered 1,500,000 messages in four seconds doesn't hold the
// last ones back for minutes.
func mostSilence(allowance, draining time.Duration, begun bool) time.Duration {
	const least, most = deliveryGap, 30 * time.Second
	if !begun {
		return allowance
	}
	return min(allowance, max(least, min(draining, most)))
}

// timeFrom sets from when the drain is timed, and how many deliveries count: from when the last
// consumer had registered, without those before. If those before were most of the backlog, the drain
// is timed from the first delivery instead, and all count.
func (d *BacklogDrain) timeFrom(last registration, firstDelivery, received int64) {
	if 2*last.Before > received {
		d.From, d.Received = firstDelivery, received
		return
	}
	d.From, d.Received = last.At, received-last.Before
}
