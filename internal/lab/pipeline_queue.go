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
	last    driver.Queue
	at      int64 // of last, on the clock's axis; 0: there is none
}

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
	if w.at > 0 {
		seconds := float64(now-w.at) / 1e9
		tick.PublishedRate = perSecond(w.last.Published, q.Published, seconds)
		tick.DeliveredRate = perSecond(w.last.Delivered, q.Delivered, seconds)
	}
	w.last, w.at = q, now
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
