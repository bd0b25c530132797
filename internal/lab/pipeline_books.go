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

// balance asks the consumer which rides are in its state, and compares them with those that the client posted in the
// measured phase. For example, of 1,000 rides that were sent, 990 were accepted. 985 of these are counted, so 5
// accepted rides are lost (LostAcked). Nobody knows what became of the 10 others: if 2 of them are counted, 987 are
// received and 13 of 1,000 never came (Lost).
//
// Rides that are counted twice or corrupted are those of the warm-up, too: the consumer doesn't know which phase they
// belong to. None is allowed in either phase.
func (r *pipelineRun) balance(ctx context.Context, posted load.Outcome) (consumer.Stats, measure.Books, error) {
	stats, err := r.pipeline.counts.Stats(ctx)
	if err != nil {
		return stats, measure.Books{}, fmt.Errorf("ask the consumer what it has counted: %w", err)
	}
	ids, err := r.pipeline.counts.Rides(ctx)
	if err != nil {
		return stats, measure.Books{}, fmt.Errorf("ask the consumer which rides it has counted: %w", err)
	}
	counted := make(map[ride.ID]bool, len(ids))
	for _, id := range ids {
		counted[id] = true
	}
	books := postedBooks(posted)
	books.Expected = posted.Sent
	books.Duplicated = max(0, stats.Counted-stats.Rides) // the sum of all skiers' counts, less the number of different rides
	books.Corrupted = stats.Corrupted
	for i := posted.First; i < int64(len(posted.Fates)); i++ { // First is the first ride of the measured phase
		fate := posted.Fates[i]
		if fate == load.Unsent {
			continue
		}
		if counted[r.pipeline.rides.ID(i)] {
			books.Received++
		} else if fate == load.Accepted {
			books.LostAcked++
		}
	}
	books.Lost = books.Expected - books.Received
	return stats, books, nil
}

// postedBooks returns the part of the books that the client knows without the consumer.
func postedBooks(posted load.Outcome) measure.Books {
	return measure.Books{
		Due: posted.Due, Unsent: posted.Unsent, Sent: posted.Sent, Acked: posted.Accepted, Failed: posted.Failed,
		Bytes: posted.Bytes, Resent: posted.Retries,
	}
}

// outcome returns the outcome of a run in the form that other trials have, so that a pipeline is judged and reported
// like them. latency is end to end, as the consumer measured it.
func (r *pipelineRun) outcome(posted load.Outcome, books measure.Books, drain drainResult, latency hist.Snapshot) worker.Outcome {
	samples := r.watch.samples
	if len(samples) > 0 && books.Lost > 0 {
		// When each was due is not known any more: not after the last answer, and they were waited for until the last sample.
		lost := hist.New()
		lost.RecordCensored(samples[len(samples)-1].At-posted.Last, books.Lost)
		latency = latency.Merge(lost.Snapshot())
	}
	out := worker.Outcome{
		Start: posted.Start, From: posted.From, Until: posted.Until,
		Measured: books, Samples: samples, SendErr: posted.Err, Producers: r.pipeline.bench.spec.ProducersPerTopic,
		Histograms:           measure.Histograms{EndToEnd: latency, Publish: posted.FromDue, Service: posted.Response, Lag: posted.Lag},
		DeliverySilences:     worker.Silences(samples, posted.From, posted.Until, worker.Deliveries),
		ConfirmationSilences: worker.Silences(samples, posted.From, posted.Until, worker.Confirmations),
		Drained:              drain.complete,
		Arriving:             drain.arriving,
		// The client only keeps when the phase began and when the last answer came: all of its rides were sent and
		// answered between the two.
		FirstSent: posted.From, LastSent: posted.Last, LastAcked: posted.Last, LastReceived: r.watch.received.lastRise,
	}
	for _, s := range samples {
		if s.At >= posted.From {
			out.BacklogMax = max(out.BacklogMax, s.Backlog)
		}
	}
	return out
}

// stored returns what a record holds of the pipeline itself. redelivered are deliveries of rides that were counted
// already.
func (r *pipelineRun) stored(posted load.Outcome, redelivered int64) *store.Pipeline {
	record := &store.Pipeline{
		WallSeconds: seconds(posted.From, posted.Last), Response: posted.Response, Retries: posted.Retries, Redelivered: redelivered,
		QueueMax: r.meters.queue.longest, QueueBytes: r.meters.queue.atRest, ConsumerCapacity: r.meters.queue.capacity, Parts: r.meters.used(), Series: r.meters.ticks,
	}
	if balancer := r.pipeline.balancer; balancer != nil {
		record.Balancer = r.pipeline.bench.spec.Pipeline.Balancer + " " + balancer.Version()
	}
	return record
}
