package lab

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/worker"
)

// pipelineWatch samples the counters of a pipeline's client and consumer while a load runs and drains.
type pipelineWatch struct {
	consumer *consumer.Remote
	runner   *load.Runner // of the client
	metering *metering    // gets every sample
	received receivedRides
	samples  []worker.Sample
}

// watchEvery is the time between two samples.
const watchEvery = 50 * time.Millisecond

// progressTimeout bounds how long the consumer may take to send its counters. It answers in a millisecond unless it has died.
const progressTimeout = time.Second

// drain samples until the consumer has as many rides as were accepted, for at most as long as allowance. It reports whether the
// consumer has them.
func (w *pipelineWatch) drain(ctx context.Context, o load.Outcome, allowance time.Duration) bool {
	accepted := int64(0)
	for _, fate := range o.Fates {
		if fate == load.Accepted {
			accepted++
		}
	}
	for end := time.Now().Add(allowance); ; time.Sleep(watchEvery) {
		w.sample(ctx, false)
		arrived := w.arrived(ctx) >= accepted
		if arrived || ctx.Err() != nil || time.Now().After(end) {
			return arrived
		}
	}
}

// arrived returns how many rides the consumer has; 0 if it doesn't answer. The counters of a consumer that was restarted began
// again, so it is asked for its state, which outlives it.
func (w *pipelineWatch) arrived(ctx context.Context) int64 {
	if !w.received.restarted() {
		return w.received.total
	}
	s, err := w.consumer.Stats(ctx)
	if err != nil {
		return 0
	}
	return s.Rides
}

// sample reads the counters of client and consumer. sending says whether the load still runs.
func (w *pipelineWatch) sample(ctx context.Context, sending bool) {
	ctx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	now := clock.Now()
	if s, err := w.consumer.Progress(ctx); err == nil { // a consumer that has died keeps its last count
		w.received.add(s.Delivered-s.Again-s.Corrupted, now)
	}
	c := w.runner.Progress()
	received := max(0, w.received.total-c.Warmed) // the rides of the warm-up come first
	s := worker.Sample{
		At: now, Sending: sending, Phase: measure.Measured, Due: c.Due, Unconfirmed: max(0, c.Due-c.Failed-c.Accepted),
		Undelivered: max(0, c.Due-c.Failed-received), Backlog: max(0, c.Accepted-received),
		Count: measure.Count{Sent: c.Sent, Acked: c.Accepted, Failed: c.Failed, Received: received},
	}
	w.samples = append(w.samples, s)
	w.metering.observe(s)
}

// receivedRides counts the rides that a pipeline's consumer has received, across restarts of it. For example, it counts 10, then
// 25, is restarted, and counts 0, then 8: those are 33 rides.
type receivedRides struct {
	total  int64
	before int64 // those counted before the last restart; 0 if there was none
	last   int64 // when total rose last, ns on the clock's axis; 0 if it never did
}

// add takes the count that the consumer has at now.
func (r *receivedRides) add(count, now int64) {
	if r.before+count < r.total { // a counter that falls has begun again
		r.before = r.total
	}
	if r.before+count > r.total {
		r.total, r.last = r.before+count, now
	}
}

func (r *receivedRides) restarted() bool { return r.before > 0 }
