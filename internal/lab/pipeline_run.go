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
	whole := ctx
	ctx, unguard := b.guard(ctx)
	defer unguard()
	ctx, unguarded := p.guard(ctx)
	defer unguarded()
	b.stage(Event{Kind: Staged, Stage: "posting rides", Target: rate})
	runtime.GC()
	m := &metering{bench: b, rate: rate, stage: "posting rides", over: make(chan struct{}), cpus: worker.Thinned[Cores]{Limit: 10_000}}
	faults := newFaults(b)
	var warm warmUp
	w := newPipelineWatch(p, m)
	l.Measuring = func(at int64) {
		m.measuring(at, l.Duration)
		w.measured()
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
	w.runner = r
	unmeter := w.metered(ctx)
	o := w.during(ctx, func() load.Outcome { return r.Run(ctx) })
	lost := lostPart(ctx)
	after, cancel := ctx, context.CancelFunc(func() {})
	if lost != nil { // what was accepted until then may still be on its way
		after, cancel = context.WithTimeout(whole, min(time.Duration(b.spec.Drain), afterDeath))
	}
	defer cancel()
	drained := w.drain(after, o)
	unmeter()
	t := trial{Rate: rate, Scheduled: l.Schedule != nil, Senders: b.spec.Pipeline.Threads, SampleEvery: lookEvery}
	t.Faults, t.Doubts = faults.end()
	stats, books, err := p.balance(after, o)
	switch {
	case lost != nil && err != nil: // nobody can say any more what arrived
		books = posted(o)
	case err != nil && ctx.Err() == nil:
		return t, nil, err
	}
	if w.before == 0 { // a consumer that was restarted knows nothing of the warm-up
		stats.Latency = stats.Latency.Sub(warm.latency())
	}
	t.Outcome = outcome(o, books, stats, w)
	t.Drained, t.Arriving = drained, !drained && clock.Now()-w.lastReceived < int64(time.Second)
	if lost != nil {
		t.Err = lost
	}
	t.Series = m.series(t.Outcome)
	m.finish(&t, l.Schedule == nil)
	b.before = t.Outcome
	return t, p.stored(o, stats.Again, w), nil
}

// stored is what a record holds of the pipeline itself.
func (p *pipeline) stored(o load.Outcome, redelivered int64, w *pipelineWatch) *store.Pipeline {
	kept := &store.Pipeline{
		WallSeconds: seconds(o.From, o.Last), Response: o.Response, Retries: o.Retries, Redelivered: redelivered,
		QueueMax: w.queue.longest, Parts: w.parts(), Series: w.ticks,
	}
	if p.balancer != nil {
		kept.Balancer = p.bench.spec.Pipeline.Balancer + " " + p.balancer.Version()
	}
	return kept
}

// afterDeath is how long a run waits for rides that were under way when a part died.
const afterDeath = 5 * time.Second

// posted are the books of a load whose consumer can't be asked.
func posted(o load.Outcome) measure.Books {
	return measure.Books{Due: o.Due, Unsent: o.Unsent, Sent: o.Sent, Acked: o.Accepted, Failed: o.Failed, Bytes: o.Bytes, Resent: o.Retries}
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
	books = posted(o)
	books.Expected, books.Duplicated, books.Corrupted = o.Sent, max(0, s.Counted-s.Rides), s.Corrupted
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

// outcome is the outcome of a load in the form of a worker's.
func outcome(o load.Outcome, books measure.Books, s consumer.Stats, w *pipelineWatch) worker.Outcome {
	out := worker.Outcome{
		Measured: books, Start: o.Start, From: o.From, Until: o.Until, FirstSent: o.From, LastSent: o.Last, LastAcked: o.Last,
		LastReceived: w.lastReceived, Producers: w.of.bench.spec.ProducersPerTopic, Samples: w.samples, SendErr: o.Err,
		Histograms: measure.Histograms{EndToEnd: s.Latency, Publish: o.FromDue, Service: o.Response, Lag: o.Lag},
	}
	out.Undelivered = worker.Silences(w.samples, o.From, o.Until, func(s worker.Sample) (done, open int64) { return s.Count.Received, s.Undelivered })
	out.Unconfirmed = worker.Silences(w.samples, o.From, o.Until, func(s worker.Sample) (done, open int64) { return s.Count.Acked, s.Unconfirmed })
	for _, one := range w.samples {
		if one.At >= o.From {
			out.BacklogMax = max(out.BacklogMax, one.Backlog)
		}
	}
	return out
}
