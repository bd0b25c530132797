package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// A backlog trial measures how fast consumers receive the messages that were sent while they were off. For example, 1,000,000
// messages are sent and confirmed; that is filling the backlog. Then two consumers are connected, and draining begins. The second
// one has registered at 7.0 s, when the first has already received 10,000 messages. The last message comes at 9.0 s. So the
// backlog was drained at 990,000 messages in 2.0 s.

// ErrRanDry ends a trial whose backlog held fewer messages than the broker had confirmed, or whose broker stopped delivering.
var ErrRanDry = errors.New("the backlog stopped draining")

// drainBacklog connects the consumers to a backlog that has been sent, and blocks until it is drained (backlogGoal). It returns an
// ErrRanDry if nothing comes any more. With Backlog.Meanwhile, the producers send until then.
func (w *Worker) drainBacklog(ctx context.Context, t *trial) (BacklogDrain, error) {
	t.awaitConfirmations(ctx)
	if t.load.Filled != nil { // it blocks until draining may begin
		if err := t.load.Filled(ctx); err != nil {
			return BacklogDrain{}, err
		}
	}
	filled := t.recording.books.Count()
	d := BacklogDrain{Filled: filled.Acked, FilledBytes: filled.Bytes, FilledAt: w.lastAck()}
	connect, cancel := context.WithTimeout(ctx, w.plan.Connect)
	defer cancel()
	registered, err := w.consumers.start(connect)
	if err != nil {
		return d, err
	}
	stopSending := w.sendMeanwhile(ctx, t)
	err = w.awaitDeliveries(ctx, t, t.backlogGoal(filled.Acked))
	came := w.consumers.span()
	if errors.Is(err, ErrRanDry) {
		came.At = came.Last // the time of waiting in vain is no draining
	}
	d.setTiming(registered, came, t.recording.books.Count().Received)
	return d, bothErrors(err, stopSending())
}

// sendMeanwhile begins to send what is to be sent while the backlog drains, if anything. stop ends that and returns its error.
func (w *Worker) sendMeanwhile(ctx context.Context, t *trial) (stop func() error) {
	if t.load.Backlog.Meanwhile == nil {
		return func() error { return nil }
	}
	toSend := course{main: t.load.Backlog.Meanwhile, start: clock.Now()}
	ended := make(chan error, 1)
	go func() { ended <- w.sendAll(ctx, t, toSend) }()
	return func() error {
		t.endMeasuring(clock.Now()) // no message is due from now on
		t.halt()
		return <-ended
	}
}

// awaitConfirmations blocks until every message sent has been confirmed or refused, but no longer than the drain allowance. It also
// returns when ctx ends: the step after it fails then.
func (t *trial) awaitConfirmations(ctx context.Context) {
	waited := t.newTimer()
	for !resolved(t.recording.books.Count()) && waited.Awake() < t.load.Drain && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

// lastAck returns when the last message so far was confirmed; 0 if none was.
func (w *Worker) lastAck() int64 {
	var last int64
	for _, c := range w.clients {
		last = max(last, c.activity.Load().lastAck.Load())
	}
	return last
}

// drainGoal is when the draining of a backlog ends: after a number of deliveries or a time, whichever comes first. Either may be
// unlimited.
type drainGoal struct {
	deliveries int64
	within     time.Duration // as the clock shows it, like the time that draining has taken in the end
}

// backlogGoal returns the goal of draining a backlog of so many messages. With 2 subscriptions and a Ratio of 0.9, a backlog of
// 1,000 messages is drained after 1,800 deliveries.
func (t *trial) backlogGoal(filled int64) drainGoal {
	b := t.load.Backlog
	all := filled * int64(t.recording.books.Subscriptions())
	switch {
	case b.Ratio > 0:
		share := math.Round(b.Ratio * float64(all)) // 0.57 · 100 is a little less than 57
		return drainGoal{deliveries: int64(share), within: unlimited}
	case b.Meanwhile != nil: // new messages come all the time, so only the time ends it
		return drainGoal{deliveries: unlimited, within: b.For}
	}
	return drainGoal{deliveries: all, within: b.For}
}

// awaitDeliveries blocks until a goal is reached. It returns ErrRanDry if nothing comes any more.
func (w *Worker) awaitDeliveries(ctx context.Context, t *trial, goal drainGoal) error {
	began := time.Now()
	draining := t.newTimer() // without the time in which this process stood still
	unchanged := t.newChangeTimer()
	for {
		received := t.recording.books.Count().Received
		silent := unchanged.update(received) // for how long nothing has come
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

// ranDry returns an ErrRanDry: so many deliveries of those wanted, which may be unlimited, and then nothing for a time.
func ranDry(received, wanted int64, silent time.Duration) error {
	silent = silent.Round(time.Millisecond)
	if wanted == unlimited {
		return fmt.Errorf("%w: %d deliveries, then nothing for %s", ErrRanDry, received, silent)
	}
	return fmt.Errorf("%w: %d of %d deliveries, then nothing for %s", ErrRanDry, received, wanted, silent)
}

// mostSilence returns how long nothing may come from a backlog before the rest counts as missing. Before the first delivery that
// is the whole allowance. Then it is as long as draining has taken so far, but at least 5 s and at most 30 s: a broker that has
// delivered 1,500,000 messages in four seconds doesn't hold the last ones back for minutes.
func mostSilence(allowance, draining time.Duration, begun bool) time.Duration {
	const least, most = deliveryGap, 30 * time.Second
	if !begun {
		return allowance
	}
	return min(allowance, max(least, min(draining, most)))
}

// setTiming sets From, To and Received, given how many deliveries had come by came.At. The timing begins when the last consumer has
// registered: if 10,000 of 1,000,000 deliveries came before that, 990,000 count. If most came before that, 600,000 for example, too
// few would be left. Then the timing begins with the first delivery, at came.First, and all 1,000,000 count.
func (d *BacklogDrain) setTiming(registered registration, came span, received int64) {
	d.From, d.To, d.Received = registered.At, came.At, received-registered.Before
	if registered.Before > received/2 {
		d.From, d.Received = came.First, received
	}
}
