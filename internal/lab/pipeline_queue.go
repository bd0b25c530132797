package lab

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
)

// queueWatch asks the broker for the pipeline's queue, where its driver can.
type queueWatch struct {
	gauge   driver.Gauge // nil: it can't
	longest *int64
	past    []queueLook // from the one that rates are taken from to the last one
}

type queueLook struct {
	at int64 // on the clock's axis
	driver.Queue
}

// rateOver is how far apart two looks are that a rate is taken from: RabbitMQ's counters move once a second.
const rateOver = int64(900e6)

// askTime bounds a question: a broker that is paused answers none.
const askTime = time.Second

// look puts what the broker says into tick.
func (w *queueWatch) look(ctx context.Context, tick *store.PipelineTick) {
	if w.gauge == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	q, err := w.gauge.Queue(limited, 0, 0)
	if err != nil {
		return
	}
	w.add(tick, q, clock.Now())
}

func (w *queueWatch) add(tick *store.PipelineTick, q driver.Queue, now int64) {
	tick.Queue, tick.Unacked = told(q.Waiting), told(q.Unacked)
	if tick.Queue != nil && (w.longest == nil || *w.longest < q.Waiting) {
		w.longest = tick.Queue
	}
	for len(w.past) > 1 && now-w.past[1].at >= rateOver {
		w.past = w.past[1:]
	}
	if len(w.past) > 0 && now-w.past[0].at >= rateOver {
		from := w.past[0]
		seconds := float64(now-from.at) / 1e9
		tick.PublishedRate = perSecond(from.Published, q.Published, seconds)
		tick.DeliveredRate = perSecond(from.Delivered, q.Delivered, seconds)
	}
	w.past = append(w.past, queueLook{now, q})
}

// told is a count, or nil where the broker doesn't tell it.
func told(n int64) *int64 {
	if n == driver.Unknown {
		return nil
	}
	return &n
}

// perSecond is the rate between two counts; nil where one isn't known or the broker began to count anew.
func perSecond(before, after int64, seconds float64) *float64 {
	if before == driver.Unknown || after < before || seconds <= 0 {
		return nil
	}
	return new(float64(after-before) / seconds)
}
