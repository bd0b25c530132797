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

// pipelineWatch samples the counters of a pipeline's client and consumer while a load runs and drains. For example, the
// client has had 900 rides accepted and the consumer has received 850, so the backlog is 50. It is used by one
// goroutine at a time.
type pipelineWatch struct {
	client   *load.Runner
	consumer *consumer.Remote
	metering *metering // gets every sample
	draining bool      // the load has ended, and rides may still arrive
	received receivedRides
	samples  []worker.Sample
}

// watchEvery is the time between two samples.
const watchEvery = 50 * time.Millisecond

// sample reads the counters of client and consumer. Those of the client are of the measured phase alone. No difference
// counts as less than 0: the consumer may already have a ride whose answer is still on its way to the client.
func (w *pipelineWatch) sample(ctx context.Context) {
	w.askConsumer(ctx)
	now := clock.Now() // after the answer, which may take long if the consumer has died
	c := w.client.Progress()
	received := max(0, w.received.total-c.Warmed) // the consumer has counted the rides of the warm-up first
	s := worker.Sample{
		At: now, Sending: !w.draining, Phase: measure.Measured, Due: c.Due, Unconfirmed: max(0, c.Due-c.Failed-c.Accepted),
		Undelivered: max(0, c.Due-c.Failed-received), Backlog: max(0, c.Accepted-received),
		Count: measure.Count{Sent: c.Sent, Acked: c.Accepted, Failed: c.Failed, Received: received},
	}
	w.samples = append(w.samples, s)
	w.metering.observe(s)
}

// askConsumer reads the consumer's counters. If the consumer does not answer, the last ones stay: a fault may have
// killed it, and it may be back in time. If it isn't, balance reports the error in the end.
func (w *pipelineWatch) askConsumer(ctx context.Context) {
	const timeout = time.Second // it answers in a millisecond unless it has died
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if s, err := w.consumer.Progress(ctx); err == nil {
		w.received.add(s, clock.Now())
	}
}

// drainResult says how a drain ended.
type drainResult struct {
	complete bool // the consumer has as many rides as were accepted
	arriving bool // it has fewer, and when it answered last, one had come less than arrivingWithin ago
}

// arrivingWithin is how long ago the last ride may have arrived for missing ones to count as late rather than lost.
const arrivingWithin = time.Second

// drain samples until the consumer has the rides that were accepted, for at most as long as allowance. A ride that the
// client counts as failed may arrive all the same: with 9 accepted and 1 failed, 9 rides may be that one and 8 of the
// accepted. So if any failed, the drain also lasts until no more rides come.
func (w *pipelineWatch) drain(ctx context.Context, posted load.Outcome, allowance time.Duration) drainResult {
	w.draining = true
	accepted, end := posted.Warmed+posted.Accepted, clock.Now()+int64(allowance)
	for {
		w.sample(ctx)
		arrived, known := w.arrived(ctx)
		complete, quiet := known && arrived >= accepted, w.received.quiet()
		done := complete && (posted.Failed == 0 || quiet)
		if done || ctx.Err() != nil || clock.Now() > end {
			return drainResult{complete: complete, arriving: !complete && !quiet}
		}
		time.Sleep(watchEvery)
	}
}

// arrived returns how many rides the consumer has. A consumer that was restarted is asked for its state, which has also
// what an earlier process counted after its last answer; known is false if it doesn't answer.
func (w *pipelineWatch) arrived(ctx context.Context) (rides int64, known bool) {
	if !w.received.restarted {
		return w.received.total, true
	}
	s, err := w.consumer.Stats(ctx)
	return s.Rides, err == nil
}

// receivedRides adds up the rides that a pipeline's consumer has received. After a restart, the consumer counts from 0
// again. For example, it answers 10, then 25, is restarted, and answers 8: those are 33 rides.
type receivedRides struct {
	total      int64
	lastRise   int64 // when total rose last, ns on the clock's axis; 0 if it never did
	lastAnswer int64 // when the consumer answered last, ns on the clock's axis
	restarted  bool  // answers came from more than one process of the consumer

	process int64 // which process of the consumer answered last: when it began (consumer.Stats.Began); 0 before the first answer
	before  int64 // total of the processes before that one
}

// quiet reports whether, by the last answer, no ride has come for arrivingWithin. What has come since then isn't known.
func (r *receivedRides) quiet() bool { return r.lastAnswer-r.lastRise >= int64(arrivingWithin) }

// add takes an answer of the consumer that came at now.
func (r *receivedRides) add(s consumer.Stats, now int64) {
	r.lastAnswer = now
	if s.Began != r.process {
		r.restarted = r.process != 0
		r.process, r.before = s.Began, r.total
	}
	if total := r.before + s.Delivered - s.Again - s.Corrupted; total > r.total {
		r.total, r.lastRise = total, now
	}
}
