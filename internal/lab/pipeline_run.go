package lab

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// run posts the load, meters every part beside it, waits until the consumer has what was accepted, and balances the books.
func (p *pipeline) run(ctx context.Context, l load.Load, rate float64) (trial, *store.Pipeline, error) {
	b := p.bench
	ctx, unguard := b.guard(ctx)
	defer unguard()
	ctx, unguarded := p.guard(ctx)
	defer unguarded()
	b.stage(Event{Kind: Staged, Stage: "posting rides", Target: rate})
	runtime.GC()
	m := &metering{bench: b, rate: rate, stage: "posting rides", over: make(chan struct{}), cpus: worker.Thinned[Cores]{Limit: 10_000}}
	faults := newFaults(b)
	var warm warmUp
	l.Measuring = func(at int64) {
		m.measuring(at, l.Duration)
		faults.begin(ctx, at)
		if l.Warmup > 0 {
			warm.ask(ctx, p.remote)
		}
	}
	if l.Schedule == nil {
		l.Sent = m.sent
	}
	r, err := load.NewRunner(l)
	if err != nil {
		return trial{}, nil, err
	}
	w := newPipelineWatch(p, r, m)
	unmeter := w.metered(ctx)
	o := w.during(ctx, func() load.Outcome { return r.Run(ctx) })
	drained := w.drain(ctx, o)
	unmeter()
	t := trial{Rate: rate, Scheduled: l.Schedule != nil, Senders: b.spec.Pipeline.Threads}
	t.Faults, t.Doubts = faults.end()
	stats, books, err := p.balance(ctx, o)
	if err != nil && ctx.Err() == nil {
		return t, nil, err
	}
	if w.before == 0 { // a consumer that was restarted knows nothing of the warm-up
		stats.Latency = stats.Latency.Sub(warm.latency())
	}
	t.Outcome = outcome(o, books, stats, w)
	t.Drained, t.Arriving = drained, !drained && clock.Now()-w.lastReceived < int64(time.Second)
	if lost := lostPart(ctx); lost != nil {
		t.Err = lost
	}
	t.Series = m.series(t.Outcome)
	m.finish(&t, l.Schedule == nil)
	b.before = t.Outcome
	kept := &store.Pipeline{
		WallSeconds: seconds(o.From, o.Last), Response: o.Response, Retries: o.Retries, Redelivered: stats.Again,
		QueueMax: w.queue.longest, Parts: w.parts(), Series: w.ticks,
	}
	if p.balancer != nil {
		kept.Balancer = b.spec.Pipeline.Balancer + " " + p.balancer.Version()
	}
	return t, kept, nil
}

// warmUp is what the consumer had seen when the measured part began: it can't tell the rides of the warm-up itself.
type warmUp struct {
	asking sync.WaitGroup
	seen   hist.Snapshot
}

func (u *warmUp) ask(ctx context.Context, r *consumer.Remote) {
	u.asking.Go(func() {
		if s, err := r.Stats(ctx); err == nil {
			u.seen = s.Latency
		}
	})
}

func (u *warmUp) latency() hist.Snapshot {
	u.asking.Wait()
	return u.seen
}

// balance asks the consumer which rides are in its state, and compares them with those that were accepted.
func (p *pipeline) balance(ctx context.Context, o load.Outcome) (s consumer.Stats, books measure.Books, err error) {
	if s, err = p.remote.Stats(ctx); err != nil {
		return s, books, fmt.Errorf("ask the consumer what it has counted: %w", err)
	}
	ids, err := p.remote.Rides(ctx)
	if err != nil {
		return s, books, fmt.Errorf("ask the consumer which rides it has counted: %w", err)
	}
	have := make(map[ride.ID]struct{}, len(ids))
	for _, id := range ids {
		have[id] = struct{}{}
	}
	books = measure.Books{
		Due: o.Due, Unsent: o.Unsent, Sent: o.Sent, Acked: o.Accepted, Failed: o.Failed, Expected: o.Sent, Bytes: o.Bytes,
		Resent: o.Retries, Duplicated: max(0, s.Counted-s.Rides), Corrupted: s.Corrupted,
	}
	for i := o.First; i < int64(len(o.Fates)); i++ {
		if o.Fates[i] == load.Unsent {
			continue
		}
		_, there := have[p.rides.ID(i)]
		switch {
		case there:
			books.Received++
		case o.Fates[i] == load.Accepted:
			books.LostAcked++
		}
	}
	books.Lost = books.Expected - books.Received
	return s, books, nil
}

// outcome is what a load came to, as the worker would have told it.
func outcome(o load.Outcome, books measure.Books, s consumer.Stats, w *pipelineWatch) worker.Outcome {
	out := worker.Outcome{
		Measured: books, Start: o.Start, From: o.From, Until: o.Until, FirstSent: o.From, LastSent: o.Last, LastAcked: o.Last,
		LastReceived: w.lastReceived, Producers: w.of.bench.spec.ProducersPerTopic, Samples: w.samples, SendErr: o.Err,
		Histograms: measure.Histograms{EndToEnd: s.Latency, Publish: o.FromDue, Service: o.Response, Lag: o.Lag},
	}
	for _, one := range w.samples {
		if one.At >= o.From {
			out.BacklogMax = max(out.BacklogMax, one.Backlog)
		}
	}
	return out
}
