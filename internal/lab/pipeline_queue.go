package lab

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
)

// queueWatch asks the broker how long the pipeline's queue is, and computes rates from its counters.
type queueWatch struct {
	gauge   driver.Gauge // nil if the broker's driver can't ask
	longest *int64       // messages; nil if the broker has never told
	looks   []queueLook  // by time: from the one that the next rate is taken from, to the last
}

// queueLook is what the broker told at a time.
type queueLook struct {
	at int64 // ns on the clock's axis
	driver.Queue
}

// rateWindow is the shortest time over which a rate is taken. RabbitMQ updates its counters once a second; over half a second,
// rates would alternate between 0 and double. Looks come every half second and a little, so that two of them are nearly a second.
const rateWindow = 900 * time.Millisecond

// queueTimeout bounds how long the broker may take to answer: one that is paused never does.
const queueTimeout = time.Second

// look sets what the broker tells in tick. If it does not answer, tick stays as it is.
func (w *queueWatch) look(ctx context.Context, tick *store.PipelineTick) {
	if w.gauge == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	if q, err := w.gauge.Queue(ctx, 0, 0); err == nil { // the pipeline has one topic and one subscription
		w.add(tick, queueLook{at: clock.Now(), Queue: q})
	}
}

// add sets a look in tick, with the rates since an earlier one.
func (w *queueWatch) add(tick *store.PipelineTick, now queueLook) {
	tick.Queue, tick.Unacked = known(now.Waiting), known(now.Unacked)
	if tick.Queue != nil && (w.longest == nil || *w.longest < *tick.Queue) {
		w.longest = tick.Queue
	}
	w.looks = append(w.looks, now)
	for len(w.looks) > 1 && w.looks[1].since(now) >= rateWindow {
		w.looks = w.looks[1:]
	}
	if from := w.looks[0]; from.since(now) >= rateWindow {
		tick.PublishedRate = counterRate(from.Published, now.Published, from.since(now))
		tick.DeliveredRate = counterRate(from.Delivered, now.Delivered, from.since(now))
	}
}

// since returns the time from l to now.
func (l queueLook) since(now queueLook) time.Duration { return time.Duration(now.at - l.at) }

// known returns a count; nil if the broker doesn't tell it.
func known(n int64) *int64 {
	if n == driver.Unknown {
		return nil
	}
	return &n
}

// counterRate returns the rate between two counts; nil if one is unknown, or if the counter began again in between.
func counterRate(before, after int64, elapsed time.Duration) *float64 {
	if before == driver.Unknown || after < before { // an unknown after is negative, and so below before
		return nil
	}
	return new(float64(after-before) / elapsed.Seconds())
}
