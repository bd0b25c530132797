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
	gauge   driver.Gauge  // nil if the broker's driver can't ask
	longest *int64        // messages; nil if the broker has never reported it
	samples []queueSample // by time: from the one that the next rate is taken from, to the last
}

// queueSample is what the broker reported at a time.
type queueSample struct {
	at int64 // ns on the clock's axis
	driver.Queue
}

// rateWindow is the shortest time over which a rate is taken. RabbitMQ updates its counters once a second; over half a second,
// rates would alternate between 0 and double. Samples come every half second and a little, so that two of them are nearly a second.
const rateWindow = 900 * time.Millisecond

// queueTimeout bounds how long the broker may take to answer: one that is paused never does.
const queueTimeout = time.Second

// sample asks the broker and sets its answer in tick. If it does not answer, tick stays as it is.
func (w *queueWatch) sample(ctx context.Context, tick *store.PipelineTick) {
	if w.gauge == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	if q, err := w.gauge.Queue(ctx, 0, 0); err == nil { // the pipeline has one topic and one subscription
		w.add(tick, queueSample{at: clock.Now(), Queue: q})
	}
}

// add sets a sample in tick, with the rates since an earlier one.
func (w *queueWatch) add(tick *store.PipelineTick, now queueSample) {
	tick.Queue, tick.Unacked = known(now.Waiting), known(now.Unacked)
	if tick.Queue != nil && (w.longest == nil || *w.longest < *tick.Queue) {
		w.longest = tick.Queue
	}
	w.samples = append(w.samples, now)
	for len(w.samples) > 1 && w.samples[1].since(now) >= rateWindow {
		w.samples = w.samples[1:]
	}
	if from := w.samples[0]; from.since(now) >= rateWindow {
		tick.PublishedRate = counterRate(from.Published, now.Published, from.since(now))
		tick.DeliveredRate = counterRate(from.Delivered, now.Delivered, from.since(now))
	}
}

// since returns the time from l to now.
func (l queueSample) since(now queueSample) time.Duration { return time.Duration(now.at - l.at) }

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
