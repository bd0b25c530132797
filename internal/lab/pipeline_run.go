package lab

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// pipelineRun is one load on a pipeline, with everything that watches it. A ride is what the client posts and the
// consumer counts.
type pipelineRun struct {
	pipeline *pipeline
	client   *load.Runner    // posts the rides
	watch    pipelineWatch   // samples the counters of client and consumer
	metering *metering       // of client and broker, as in every trial
	meters   *pipelineMeters // of each part
	faults   *faultInjector
	warmup   warmupLatency
}

// run posts a load while every part is metered, waits until the consumer has the rides that were accepted, and compares
// what both have counted. If a part dies, it returns what was measured until then.
func (p *pipeline) run(ctx context.Context, l load.Load) (trial, *store.Pipeline, error) {
	guarded, unguard := p.bench.guard(ctx, p.startedParts()...) // guarded ends with ctx, or when a part dies
	defer func() { _ = unguard() }()
	r, err := p.newRun(guarded, l)
	if err != nil {
		return trial{}, nil, err
	}
	posted, drain := r.postAndDrain(ctx, guarded)
	injected, faultDoubts := r.faults.end()
	counted, books, err := r.balance(ctx, posted)
	died := unguard()
	if err != nil {
		if died == nil && ctx.Err() == nil {
			return trial{}, nil, err
		}
		counted, books = consumer.Stats{}, postedBooks(posted) // which rides arrived is not known
	}
	latency, latencyDoubts := r.measuredLatency(counted)
	out := r.outcome(posted, books, drain, latency)
	out.Err = died
	cost, costDoubts := r.metering.finish(ctx, out, nil)
	return trial{
		Outcome: out, trialCost: cost, Rate: r.metering.rate, Scheduled: l.Schedule != nil, Senders: l.Threads,
		SampleEvery: watchEvery, Series: r.metering.series(out),
		Faults: injected, Doubts: slices.Concat(faultDoubts, latencyDoubts, costDoubts),
	}, r.stored(posted, counted.Again), nil
}

// newRun prepares a run. Its meters and faults will hear from the load when the measured phase begins.
func (p *pipeline) newRun(ctx context.Context, l load.Load) (*pipelineRun, error) {
	const stage = "posting rides"
	rate := 0.0 // of a closed loop
	if l.Schedule != nil {
		rate = p.bench.spec.Load.Rate
	}
	p.bench.report(Event{Kind: Staged, Stage: stage, Target: rate})
	runtime.GC() // or garbage of the parts' start would be collected while the load runs
	r := &pipelineRun{
		pipeline: p, metering: newMetering(p.bench, stage, rate), meters: newPipelineMeters(p), faults: &faultInjector{bench: p.bench},
	}
	l.Measuring = func(at int64) {
		r.metering.schedule(at, l.Duration)
		r.meters.beginMeasured()
		r.faults.begin(ctx, at)
		if l.Warmup > 0 {
			r.warmup.ask(ctx, p.counts)
		}
	}
	if l.Schedule == nil { // the measured phase ends with a number of rides, not after a time
		r.metering.counted = true
		l.Sent = r.metering.endNow
	}
	var err error
	r.client, err = load.NewRunner(l)
	r.watch = pipelineWatch{client: r.client, consumer: p.counts, metering: r.metering}
	return r, err
}

// afterDeath bounds how long a run waits for rides that were under way when a part died.
const afterDeath = 5 * time.Second

// postAndDrain posts the load to its end and waits until the rides that were accepted have arrived, while meters and
// counters are read.
func (r *pipelineRun) postAndDrain(ctx, guarded context.Context) (load.Outcome, drainResult) {
	endMeters := r.meters.start(guarded)
	defer endMeters()
	posted := r.post(guarded)
	allowance := time.Duration(r.pipeline.bench.spec.Drain)
	if deathOf(guarded) != nil { // guarded has ended, but rides that were accepted until then may still arrive
		return posted, r.watch.drain(ctx, posted, min(allowance, afterDeath))
	}
	return posted, r.watch.drain(guarded, posted, allowance)
}

// post posts the load to its end and samples the counters meanwhile.
func (r *pipelineRun) post(ctx context.Context) load.Outcome {
	r.watch.askConsumer(ctx) // so that even a restart before the first sample is seen as one
	endSamples := clock.Repeat(watchEvery, func() { r.watch.sample(ctx) })
	defer endSamples()
	return r.client.Run(ctx)
}

// warmupLatency is what the consumer had measured when the measured phase began; empty if there was no warm-up. The
// consumer knows no phases, so this is subtracted in the end.
type warmupLatency struct {
	asking  sync.WaitGroup // the other fields are set when it is done
	latency hist.Snapshot
	err     error // why latency is not known; nil if it is
}

// ask asks the consumer now, in a goroutine of its own, since the answer must not hold up the load.
func (w *warmupLatency) ask(ctx context.Context, c *consumer.Remote) {
	w.asking.Go(func() {
		s, err := c.Stats(ctx)
		w.latency, w.err = s.Latency, err
	})
}

// measuredLatency returns the end-to-end latency of the measured phase, from all that the consumer has counted until
// the end of the drain. It adds a doubt if that can't be told exactly.
func (r *pipelineRun) measuredLatency(counted consumer.Stats) (hist.Snapshot, []store.Doubt) {
	r.warmup.asking.Wait()
	all := counted.Latency
	switch {
	case all.Count() == 0:
		return all, nil
	case r.watch.received.restarted: // by a fault, so in the measured phase: all until then is forgotten, the warm-up, too
		return all, []store.Doubt{store.DoubtOf(doubt.RestartLatency,
			fmt.Sprintf("the consumer was restarted: the end-to-end latency is that of the %d rides counted since", all.Count()))}
	case r.warmup.err != nil:
		return all, []store.Doubt{store.DoubtOf(doubt.WarmupLatency,
			fmt.Sprintf("the latency includes that of the warm-up: the consumer did not tell it apart (%v)", r.warmup.err))}
	}
	return all.Sub(r.warmup.latency), nil
}

// balance asks the consumer which rides are in its state, and compares them with those that the client posted in the
// measured phase. For example, of 1,000 rides that were sent, 990 were accepted. 985 of these are counted, so 5
// accepted rides are lost (LostAcked). What became of the 10 others is not known: if 2 of them are counted, 987 are
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
