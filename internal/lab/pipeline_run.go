package lab

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// pipelineRun is one load on a pipeline, with everything that watches it. A ride is what the client posts and the consumer counts.
type pipelineRun struct {
	pipeline *pipeline
	metering *metering       // client and broker, as in every trial
	meters   *pipelineMeters // each part
	watch    pipelineWatch   // counters of client and consumer; set by post
	faults   *faultInjector

	// warmupLatency is what the consumer had measured when the measured phase began; empty if there was no warm-up. The consumer knows no
	// phases, so this is subtracted in the end.
	warmupLatency hist.Snapshot
	warmupErr     error          // why warmupLatency is not known; nil if it is
	askingWarmup  sync.WaitGroup // until it is done, warmupLatency and warmupErr may be written
}

// afterDeath bounds how long a run waits for rides that were under way when a part died.
const afterDeath = 5 * time.Second

// run posts a load while every part is metered, waits until the consumer has the rides that were accepted, and balances the books.
// If a part dies, it returns what was measured until then.
func (p *pipeline) run(ctx context.Context, l load.Load) (trial, *store.Pipeline, error) {
	const stage = "posting rides"
	spec, scheduled := p.bench.spec, l.Schedule != nil
	rate := 0.0 // of a closed loop
	if scheduled {
		rate = spec.Load.Rate
	}
	p.bench.report(Event{Kind: Staged, Stage: stage, Target: rate})
	runtime.GC() // or garbage of the parts' start would be collected while the load runs
	guarded, unguard := p.bench.guard(ctx, p.parts()...)
	defer func() { _ = unguard() }()
	r := &pipelineRun{
		pipeline: p, metering: newMetering(p.bench, stage, rate), meters: newPipelineMeters(p), faults: &faultInjector{bench: p.bench},
	}
	endMeters := r.meters.start(guarded)
	defer endMeters()
	posted, err := r.post(guarded, l)
	if err != nil {
		return trial{}, nil, err
	}

	draining, allowance := guarded, time.Duration(spec.Drain)
	if deathOf(guarded) != nil { // guarded has ended, but rides that were accepted until then may still arrive
		draining, allowance = ctx, min(allowance, afterDeath)
	}
	drain := r.watch.drain(draining, posted, allowance)
	endMeters() // now, because the consumer's answers to balance are no part of the load, and may take seconds
	injected, faultDoubts := r.faults.end()
	counted, books, err := r.balance(draining, posted)
	if err != nil && guarded.Err() == nil {
		return trial{}, nil, err
	}
	if err != nil { // the consumer has died, or the run was interrupted: nobody knows which rides arrived
		counted, books = consumer.Stats{}, postedBooks(posted)
	}
	latency, latencyDoubts := r.measuredLatency(counted)
	out := r.outcome(posted, books, latency)
	out.Drained, out.Arriving, out.Err = drain.complete, drain.arriving, unguard()
	cost, costDoubts := r.metering.finish(ctx, out, nil)
	return trial{
		Outcome: out, trialCost: cost, Rate: rate, Scheduled: scheduled, Senders: spec.Pipeline.Threads,
		SampleEvery: watchEvery, Series: r.metering.series(out),
		Faults: injected, Doubts: slices.Concat(faultDoubts, latencyDoubts, costDoubts),
	}, r.stored(posted, counted.Again), nil
}

// post posts a load to its end and samples the counters meanwhile.
func (r *pipelineRun) post(ctx context.Context, l load.Load) (load.Outcome, error) {
	l.Measuring = func(at int64) {
		r.metering.schedule(at, l.Duration)
		r.meters.beginMeasured()
		r.faults.begin(ctx, at)
		if l.Warmup > 0 {
			r.askingWarmup.Go(func() { r.askWarmupLatency(ctx) })
		}
	}
	if l.Schedule == nil {
		r.metering.counted, l.Sent = true, r.metering.endNow
	}
	client, err := load.NewRunner(l)
	if err != nil {
		return load.Outcome{}, err
	}
	r.watch = pipelineWatch{client: client, consumer: r.pipeline.counts, metering: r.metering}
	r.watch.askConsumer(ctx) // so that even a restart before the first sample is seen as one
	endSamples := repeat(watchEvery, func() { r.watch.sample(ctx) })
	defer endSamples()
	return client.Run(ctx), nil
}

func (r *pipelineRun) askWarmupLatency(ctx context.Context) {
	s, err := r.pipeline.counts.Stats(ctx)
	r.warmupLatency, r.warmupErr = s.Latency, err
}

// measuredLatency returns the latency that the consumer measured, without the warm-up's, or with a doubt if the warm-up's is not known.
func (r *pipelineRun) measuredLatency(s consumer.Stats) (hist.Snapshot, []store.Doubt) {
	r.askingWarmup.Wait()
	switch {
	case r.watch.received.restarted: // by a fault, so after the warm-up
		return s.Latency, []store.Doubt{doubtOf("restart-latency",
			remark.Of("the consumer was restarted: the end-to-end latency is that of the %d rides counted since", int64(s.Latency.Count())))}
	case r.warmupErr != nil && s.Latency.Count() > 0:
		return s.Latency, []store.Doubt{doubtOf("warmup-latency", remark.Of("the latency includes that of the warm-up: the consumer did not tell it apart (%v)", r.warmupErr))}
	}
	return s.Latency.Sub(r.warmupLatency), nil
}

// repeat calls f in a goroutine of its own, first after a pause, then each time a pause after the last call has returned. end blocks
// until f runs no more. It may be called again.
func repeat(pause time.Duration, f func()) (end func()) {
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-time.After(pause):
				f()
			case <-over:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(over)
		running.Wait()
	})
}
