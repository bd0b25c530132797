package lab

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/store"
)

// pipelineRun is one load on a pipeline, with everything that watches it.
type pipelineRun struct {
	*pipeline
	load     load.Load
	metering *metering
	meters   *pipelineMeters
	watch    *pipelineWatch
	faults   *faults
	warmup   warmupLatency
}

// run posts the load while every part is metered, waits until the consumer has the rides that were accepted, and balances the
// books. rate is the offered rate in requests per second; 0 in a closed loop.
func (p *pipeline) run(ctx context.Context, l load.Load, rate float64) (trial, *store.Pipeline, error) {
	const stage = "posting rides"
	p.bench.report(Event{Kind: Staged, Stage: stage, Target: rate})
	runtime.GC() // or garbage of the parts' start would be collected while the load runs
	guarded, unguard := p.bench.guard(ctx, p.instances())
	defer func() { _ = unguard() }()
	run := &pipelineRun{
		pipeline: p, load: l, metering: newMetering(p.bench, stage, rate), meters: newPipelineMeters(p), faults: newFaults(p.bench),
	}
	run.metering.counted = l.Schedule == nil
	run.meters.start(guarded)
	defer run.meters.stop() // drain has stopped them, unless post fails
	outcome, err := run.post(guarded)
	if err != nil {
		return trial{}, nil, err
	}
	died := deathOf(guarded)
	draining, stop := guarded, func() {}
	if died != nil { // guarded has ended, but rides that were accepted until then may still arrive
		draining, stop = context.WithTimeout(ctx, min(time.Duration(p.bench.spec.Drain), afterDeath))
	}
	defer stop()
	t := trial{
		Rate: rate, Scheduled: l.Schedule != nil, Senders: p.bench.spec.Pipeline.Threads, SampleEvery: watchEvery,
	}
	redelivered, err := run.drain(draining, &t, outcome)
	if err != nil && guarded.Err() == nil {
		return t, nil, err
	}
	if died := unguard(); died != nil {
		t.Err = died
	}
	t.Series = run.metering.series(t.Outcome)
	run.metering.finish(ctx, &t)
	return t, run.stored(outcome, redelivered), nil
}

// afterDeath is how long a run waits for rides that were under way when a part died.
const afterDeath = 5 * time.Second

// arrivingWithin is how long ago the last ride may have arrived for missing ones to count as late rather than lost.
const arrivingWithin = time.Second

// post posts the load to its end.
func (r *pipelineRun) post(ctx context.Context) (load.Outcome, error) {
	r.load.Measuring = func(at int64) {
		r.metering.schedule(at, r.load.Duration)
		r.meters.beginMeasured()
		r.faults.begin(ctx, at)
		if r.load.Warmup > 0 {
			r.warmup.ask(ctx, r.remote)
		}
	}
	if r.metering.counted {
		r.load.Sent = r.metering.endNow
	}
	runner, err := load.NewRunner(r.load)
	if err != nil {
		return load.Outcome{}, err
	}
	r.watch = &pipelineWatch{consumer: r.remote, runner: runner, metering: r.metering}
	return r.watch.while(ctx, func() load.Outcome { return runner.Run(ctx) }), nil
}

// drain waits for the rides that were accepted and fills the trial's outcome. It returns how many rides the consumer was given
// again. It also fills the outcome if the consumer can't be asked, but returns an error then.
func (r *pipelineRun) drain(ctx context.Context, t *trial, o load.Outcome) (redelivered int64, err error) {
	drained := r.watch.drain(ctx, o, time.Duration(r.bench.spec.Drain))
	r.meters.stop() // now, because the consumer's answers to balance are no part of the load
	t.Faults, t.Doubts = r.faults.end()
	stats, books, err := r.balance(ctx, o)
	if err != nil { // what arrived is not known
		stats, books = consumer.Stats{}, postedBooks(o)
	}
	if !r.watch.received.restarted() { // one that was restarted has forgotten the warm-up
		stats.Latency = stats.Latency.Sub(r.warmup.latency())
	}
	t.Outcome = r.outcome(o, books, stats.Latency)
	t.Drained = drained
	t.Arriving = !drained && clock.Now()-r.watch.received.last < int64(arrivingWithin)
	return stats.Again, err
}

// warmupLatency is the latency of the rides that the consumer had counted when the measured phase began. The consumer can't tell
// them from later ones, so their latency is subtracted in the end.
type warmupLatency struct {
	asking sync.WaitGroup
	seen   hist.Snapshot
}

// ask does not block. If the consumer doesn't answer, nothing is subtracted.
func (w *warmupLatency) ask(ctx context.Context, r *consumer.Remote) {
	w.asking.Go(func() {
		if s, err := r.Stats(ctx); err == nil {
			w.seen = s.Latency
		}
	})
}

func (w *warmupLatency) latency() hist.Snapshot {
	w.asking.Wait()
	return w.seen
}
