package lab

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
)

// queueWatch asks the broker how long the pipeline's queue is, and computes rates from its counters. For example, a
// broker that reports 500 messages published, and 800 of them a second later, takes 300/s.
type queueWatch struct {
	gauge   driver.Gauge  // nil if the broker's driver can't ask
	longest *int64        // messages; nil if the broker has never reported it
	samples []queueSample // by time, from the one that the last rate was taken from
}

// queueSample is what the broker reported at a time.
type queueSample struct {
	at    int64 // ns on the clock's axis
	queue driver.Queue
}

// rateWindow is the shortest time over which a rate is taken. RabbitMQ updates its counters once a second, so over half
// a second rates would alternate between 0 and double. It is less than a second, because ticks are only about tickEach
// apart.
const rateWindow = 900 * time.Millisecond

// ask asks the broker and sets its answer in tick. If it does not answer, the tick has no figures of the queue.
func (w *queueWatch) ask(ctx context.Context, tick *store.PipelineTick) {
	if w.gauge == nil {
		return
	}
	const timeout = time.Second // a broker that is paused never answers
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if q, err := w.gauge.Queue(ctx, 0, 0); err == nil { // the pipeline has one topic and one subscription
		w.add(tick, queueSample{at: clock.Now(), queue: q})
	}
}

// add sets a sample in tick, with the rates since the latest one that is at least rateWindow older.
func (w *queueWatch) add(tick *store.PipelineTick, now queueSample) {
	tick.Queue, tick.Unacked = reported(now.queue.Waiting), reported(now.queue.Unacked)
	if tick.Queue != nil && (w.longest == nil || *w.longest < *tick.Queue) {
		w.longest = tick.Queue
	}
	w.samples = append(w.samples, now)
	age := func(s queueSample) time.Duration { return time.Duration(now.at - s.at) }
	for len(w.samples) > 1 && age(w.samples[1]) >= rateWindow {
		w.samples = w.samples[1:]
	}
	if from := w.samples[0]; age(from) >= rateWindow {
		tick.PublishedRate = counterRate(from.queue.Published, now.queue.Published, age(from))
		tick.DeliveredRate = counterRate(from.queue.Delivered, now.queue.Delivered, age(from))
	}
}

// reported returns a count of the broker; nil if the broker doesn't report it.
func reported(count int64) *int64 {
	if count == driver.Unknown {
		return nil
	}
	return &count
}

// counterRate returns the rate between two counts; nil if one is unknown, or if the counter began again in between.
func counterRate(before, after int64, elapsed time.Duration) *float64 {
	if before == driver.Unknown || after == driver.Unknown || after < before {
		return nil
	}
	return new(float64(after-before) / elapsed.Seconds())
}
