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
	gauge    driver.Gauge  // nil if the broker's driver can't ask
	longest  *int64        // messages; nil if the broker has never reported it
	atRest   *int64        // bytes of memory before the load; nil likewise
	capacity *float64      // the least; nil likewise
	samples  []queueSample // by time, from the one that the last rate was taken from
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

// ask asks the broker; false if it does not answer, and a tick has no figures of the queue then.
func (w *queueWatch) ask(ctx context.Context) (queueSample, bool) {
	if w.gauge == nil {
		return queueSample{}, false
	}
	const timeout = time.Second // a broker that is paused never answers
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	q, err := w.gauge.Queue(ctx, 0, 0) // the pipeline has one topic and one subscription
	return queueSample{at: clock.Now(), queue: q}, err == nil
}

// look asks the broker for what note keeps; the zero value if it does not answer.
func (w *queueWatch) look(ctx context.Context) driver.Queue {
	answer, ok := w.ask(ctx)
	if !ok {
		return driver.Queue{}
	}
	w.note(answer.queue)
	return answer.queue
}

// rest asks the broker, before the load, how much memory it uses for the queue, until it has counted that. RabbitMQ counts every second.
func (w *queueWatch) rest(ctx context.Context) {
	const patience, pause = 3 * time.Second, 200 * time.Millisecond
	for range patience / pause {
		memory := w.look(ctx).Memory
		if memory == nil {
			return
		}
		if *memory > 0 {
			w.atRest = memory
			return
		}
		time.Sleep(pause)
	}
}

// note keeps the longest queue and the least capacity.
func (w *queueWatch) note(q driver.Queue) {
	if n := reported(q.Waiting); n != nil && (w.longest == nil || *w.longest < *n) {
		w.longest = n
	}
	if c := q.Capacity; c != nil && (w.capacity == nil || *c < *w.capacity) {
		w.capacity = c
	}
}

// add sets a sample in tick, with the rates since the latest one that is at least rateWindow older.
func (w *queueWatch) add(tick *store.PipelineTick, now queueSample) {
	tick.Queue, tick.Unacked = reported(now.queue.Waiting), reported(now.queue.Unacked)
	w.note(now.queue)
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
