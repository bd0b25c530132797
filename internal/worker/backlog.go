package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// ErrRanDry ends a trial whose backlog held fewer messages than the broker had confirmed, or whose broker stopped delivering.
var ErrRanDry = errors.New("the backlog stopped draining")

// drainBacklog connects the consumers to a backlog that was filled, and blocks until the wanted share of it has been received,
// or until nothing more comes (see mostSilence). Messages that are sent meanwhile are sent by this call.
func (w *Worker) drainBacklog(ctx context.Context, t *trial) (Drained, error) {
	w.drainAcks(ctx, t)
	if t.load.Filled != nil {
		if err := t.load.Filled(ctx); err != nil {
			return Drained{}, err
		}
	}
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
	if errors.Is(err, ErrRanDry) { // the time of waiting in vain is no draining
		d.To = came.Last
	}
	d.since(last, came.First)
	stop()
	return d, err
}

// since sets when the timed drain begins: when the last consumer had registered. Deliveries before that are left out. If they
// were most of the backlog, the drain begins with the first delivery instead, and all count.
func (d *Drained) since(last registered, first int64) {
	if 2*last.Before > d.Received {
		d.From = first
		return
	}
	d.From, d.Received = last.At, d.Received-last.Before
}

// wanted returns after how many deliveries a backlog counts as drained, and when draining ends at the latest; the zero time
// means never.
func (t *trial) wanted(filled int64) (deliveries int64, until time.Time) {
	b := t.load.Backlog
	all := filled * int64(t.measure.Subscriptions())
	switch {
	case b.Ratio > 0:
		return int64(b.Ratio * float64(all)), time.Time{}
	case b.Meanwhile != nil: // messages that are sent meanwhile are drained as well, so only the time ends it
		return math.MaxInt64, time.Now().Add(b.For)
	}
	return all, time.Now().Add(b.For)
}

// lastAck returns when the last message so far was confirmed; 0 if none was.
func (w *Worker) lastAck() int64 {
	var last int64
	for _, p := range w.producers {
		last = max(last, p.activity.Load().lastAck.Load())
	}
	return last
}

// drainAcks blocks until every message sent has been confirmed or refused, but no longer than the drain allowance.
func (w *Worker) drainAcks(ctx context.Context, t *trial) {
	waited := t.newTimer()
	for c := t.measure.Count(); c.Sent > c.Acked+c.Failed && waited.Awake() < t.load.Drain && ctx.Err() == nil; c = t.measure.Count() {
		time.Sleep(time.Millisecond)
	}
}

// mostSilence returns how long nothing may come from a backlog before the rest counts as missing. Before the first delivery
// that is the whole allowance, and then the time that draining has taken so far, within bounds: a broker that has delivered
// 1,500,000 messages in four seconds doesn't hold the last ones back for minutes.
func mostSilence(allowance, draining time.Duration, begun bool) time.Duration {
	const least, most = gust, 30 * time.Second
	if !begun {
		return allowance
	}
	return min(allowance, max(least, min(draining, most)))
}

// receive blocks until want deliveries have been booked, or until a time if that is not zero. It returns ErrRanDry if nothing
// comes any more.
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
