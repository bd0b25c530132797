package lab

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// balance asks the consumer which rides are in its state, and compares them with those that the servers accepted. For example, of
// 1,000 rides that were sent 990 were accepted, and 985 of those are counted: 5 confirmed rides are lost. The 10 others may be counted
// or not, since the client does not know what became of them.
func (r *pipelineRun) balance(ctx context.Context, o load.Outcome) (consumer.Stats, measure.Books, error) {
	s, err := r.pipeline.counts.Stats(ctx)
	if err != nil {
		return s, measure.Books{}, fmt.Errorf("ask the consumer what it has counted: %w", err)
	}
	ids, err := r.pipeline.counts.Rides(ctx)
	if err != nil {
		return s, measure.Books{}, fmt.Errorf("ask the consumer which rides it has counted: %w", err)
	}
	counted := make(map[ride.ID]bool, len(ids))
	for _, id := range ids {
		counted[id] = true
	}
	b := postedBooks(o)
	b.Expected = o.Sent
	b.Duplicated = max(0, s.Counted-s.Rides)
	b.Corrupted = s.Corrupted
	for i := o.First; i < int64(len(o.Fates)); i++ { // First is the first ride of the measured phase
		fate := o.Fates[i]
		if fate == load.Unsent {
			continue
		}
		if counted[r.pipeline.rides.ID(i)] {
			b.Received++
		} else if fate == load.Accepted {
			b.LostAcked++
		}
	}
	b.Lost = b.Expected - b.Received
	return s, b, nil
}

// postedBooks returns the part of the books that the client knows without the consumer.
func postedBooks(o load.Outcome) measure.Books {
	return measure.Books{
		Due: o.Due, Unsent: o.Unsent, Sent: o.Sent, Acked: o.Accepted, Failed: o.Failed, Bytes: o.Bytes, Resent: o.Retries,
	}
}

// outcome puts the outcome of a load into the form of a worker's, so that a pipeline is judged and reported like other trials.
// endToEnd is the latency that the consumer measured.
func (r *pipelineRun) outcome(o load.Outcome, b measure.Books, endToEnd hist.Snapshot) worker.Outcome {
	samples := r.watch.samples
	out := worker.Outcome{
		Start: o.Start, From: o.From, Until: o.Until,
		FirstSent: o.From, LastSent: o.Last, LastAcked: o.Last, LastReceived: r.watch.received.lastRise,
		Measured: b, Samples: samples, SendErr: o.Err, Producers: r.pipeline.bench.spec.ProducersPerTopic,
		Histograms:           measure.Histograms{EndToEnd: endToEnd, Publish: o.FromDue, Service: o.Response, Lag: o.Lag},
		DeliverySilences:     worker.Silences(samples, o.From, o.Until, worker.Deliveries),
		ConfirmationSilences: worker.Silences(samples, o.From, o.Until, worker.Confirmations),
	}
	for _, s := range samples {
		if s.At >= o.From {
			out.BacklogMax = max(out.BacklogMax, s.Backlog)
		}
	}
	return out
}

// stored returns what a record holds of the pipeline itself. redelivered are deliveries of rides that were counted already.
func (r *pipelineRun) stored(o load.Outcome, redelivered int64) *store.Pipeline {
	kept := &store.Pipeline{
		WallSeconds: seconds(o.From, o.Last), Response: o.Response, Retries: o.Retries, Redelivered: redelivered,
		QueueMax: r.meters.queue.longest, Parts: r.meters.used(), Series: r.meters.ticks,
	}
	if balancer := r.pipeline.balancer; balancer != nil {
		kept.Balancer = r.pipeline.bench.spec.Pipeline.Balancer + " " + balancer.Version()
	}
	return kept
}
