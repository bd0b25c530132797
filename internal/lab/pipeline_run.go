package lab

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/store"
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
	endSamples := repeat(watchEvery, func() { r.watch.sample(ctx) })
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

// repeat calls f in a goroutine of its own, first after a pause, then each time a pause after the last call has
// returned. The caller calls end once; it blocks until f runs no more.
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
	return func() {
		close(over)
		running.Wait()
	}
}
