package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// ErrRanDry ends a trial whose backlog turned out to hold less than the broker had acknowledged, or that the broker
// stopped delivering.
var ErrRanDry = errors.New("the backlog stopped draining")

// drainBacklog connects the consumers to a backlog and blocks until the wanted share of it has been received, or
// until nothing more comes: see mostSilence.
func (w *Worker) drainBacklog(ctx context.Context, t *trial) (Drained, error) {
	w.drainAcks(ctx, t)
	filled := t.measure.Count()
	d := Drained{Filled: filled.Acked, FilledBytes: filled.Bytes, FilledAt: w.lastAck()}
	connect, cancel := context.WithTimeout(ctx, w.plan.Connect)
	defer cancel()
	last, err := w.consuming.start(connect)
	if err != nil {
		return d, err
	}
	stop := func() {}
	if m := t.load.Backlog.Meanwhile; m != nil {
		meanwhile := make(chan error, 1)
		go func() { meanwhile <- w.sendAll(ctx, t, course{main: m, start: clock.Now()}) }()
		stop = func() { t.halt(); err = errors.Join(err, <-meanwhile) }
	}
	want, until := t.wanted(filled.Acked)
	err = w.receive(ctx, t, want, until)
	came := w.consuming.span()
	d.To, d.Received = came.At, t.measure.Count().Received
	if errors.Is(err, ErrRanDry) { // waiting in vain is no draining
		d.To = came.Last
	}
	d.since(last, came.First)
	stop()
	return d, err
}

// since decides from when on draining is timed: from when the last consumer was registered, and what had come before is
// left out of the rate; or, where that was most of it, from the first delivery.
func (d *Drained) since(last registered, first int64) {
	if 2*last.Before > d.Received {
		d.From = first
		return
	}
	d.From, d.Received = last.At, d.Received-last.Before
}

// wanted says after how many deliveries a backlog counts as drained, and when at the latest; the zero time is never.
func (t *trial) wanted(filled int64) (deliveries int64, until time.Time) {
	b := t.load.Backlog
	all := filled * int64(t.measure.Subscriptions())
	switch {
	case b.Ratio > 0:
		return int64(b.Ratio * float64(all)), time.Time{}
	case b.Meanwhile != nil: // what is sent meanwhile is drained, too
		return math.MaxInt64, time.Now().Add(b.For)
	}
	return all, time.Now().Add(b.For)
}

// lastAck is when the last message so far was confirmed.
func (w *Worker) lastAck() int64 {
	var last int64
	for _, p := range w.producers {
		last = max(last, p.lastAck.Load())
	}
	return last
}

// drainAcks waits until everything sent is resolved, at most as long as the drain allowance.
func (w *Worker) drainAcks(ctx context.Context, t *trial) {
	waited := t.newTimer()
	for c := t.measure.Count(); c.Sent > c.Acked+c.Failed && waited.Awake() < t.load.Drain && ctx.Err() == nil; c = t.measure.Count() {
		time.Sleep(time.Millisecond)
	}
}

// mostSilence is how long nothing may come from a backlog before the rest counts as missing: the whole allowance for the
// first delivery, then as long as it has been draining, within bounds. Whoever has drained 1,500,000 messages in four
// seconds doesn't hold the last ones back for minutes.
func mostSilence(allowance, draining time.Duration, begun bool) time.Duration {
	const least, most = gust, 30 * time.Second
	if !begun {
		return allowance
	}
	return min(allowance, max(least, min(draining, most)))
}

// receive blocks until want deliveries have been booked, or until, where that is a time.
func (w *Worker) receive(ctx context.Context, t *trial, want int64, until time.Time) error {
	last, still := int64(0), t.newTimer()
	draining := t.newTimer()
	for {
		got := t.measure.Count().Received
		if got >= want || !until.IsZero() && time.Now().After(until) {
			return nil
		}
		if got > last {
			last = got
			still.Reset()
		} else if most := mostSilence(t.load.Drain, draining.Awake()-still.Awake(), got > 0); still.Awake() > most {
			return fmt.Errorf("%w: %d of %d deliveries, then nothing for %s", ErrRanDry, got, want, most.Round(time.Millisecond))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.broken.is:
			return w.broken.err
		case <-time.After(time.Millisecond):
		}
	}
}
