package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
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
	o := w.during(ctx, func() load.Outcome { return r.Run(ctx) })
	drained := w.drain(ctx, o)
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
		QueueMax: w.queueMax, Parts: w.parts(), Series: w.ticks,
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

// pipelineWatch looks at everything while the load runs.
type pipelineWatch struct {
	of      *pipeline
	runner  *load.Runner
	meters  *metering
	names   []string
	sources []meter // nil: this process
	first   []reading
	last    []reading
	peaks   []store.PipelinePart
	ticks   []store.PipelineTick

	samples      []worker.Sample
	received     int64 // that the consumer had counted; a restarted one begins anew
	before       int64 // of consumers that were restarted
	lastReceived int64
	queueMax     *int64
	began        int64
}

// Looks at the counters, and at the meters and the queue.
const (
	lookEvery  = 50 * time.Millisecond
	meterLooks = 10 // looks for one at the meters
)

func newPipelineWatch(p *pipeline, r *load.Runner, m *metering) *pipelineWatch {
	w := &pipelineWatch{of: p, runner: r, meters: m, began: clock.Now()}
	add := func(name string, source meter) {
		w.names, w.sources = append(w.names, name), append(w.sources, source)
		w.peaks = append(w.peaks, store.PipelinePart{Name: name})
	}
	add("client", nil)
	if p.balancer != nil {
		add(study.PartBalancer, p.balancer.Meter())
	}
	add(study.PartServer, p.servers.Meter())
	add("broker", p.bench.instance.Meter())
	add(study.PartConsumer, p.consumer.Meter())
	return w
}

// during watches while run runs.
func (w *pipelineWatch) during(ctx context.Context, run func() load.Outcome) load.Outcome {
	w.first = w.read()
	w.last = w.first
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-time.After(lookEvery):
			case <-over:
				return
			}
			w.look(ctx, true)
			if n%meterLooks == 0 {
				w.measure(ctx)
			}
		}
	})
	o := run()
	close(over)
	watching.Wait()
	return o
}

// drain waits until the consumer has as many rides as were accepted, at most as long as the spec allows.
func (w *pipelineWatch) drain(ctx context.Context, o load.Outcome) bool {
	accepted := int64(0)
	for _, fate := range o.Fates {
		if fate == load.Accepted {
			accepted++
		}
	}
	for end := time.Now().Add(time.Duration(w.of.bench.spec.Drain)); ; time.Sleep(lookEvery) {
		w.look(ctx, false)
		// The counters of a consumer that was killed have ended with it: its state has not.
		enough := w.received >= accepted && w.before == 0
		if w.before > 0 {
			s, err := w.of.remote.Stats(ctx)
			enough = err == nil && s.Rides >= accepted
		}
		if enough || ctx.Err() != nil || time.Now().After(end) {
			w.measure(ctx)
			return enough
		}
	}
}

// look takes a sample of the counters.
func (w *pipelineWatch) look(ctx context.Context, sending bool) {
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	now := clock.Now()
	if s, err := w.of.remote.Progress(limited); err == nil {
		fresh := s.Delivered - s.Again - s.Corrupted
		if w.before+fresh < w.received { // it has been restarted
			w.before = w.received
		}
		if w.before+fresh > w.received {
			w.received, w.lastReceived = w.before+fresh, now
		}
	}
	c := w.runner.Progress()
	s := worker.Sample{
		At: now, Sending: sending, Phase: measure.Measured, Due: c.Sent, Backlog: max(0, c.Accepted-w.received),
		Count: measure.Count{Sent: c.Sent, Acked: c.Accepted, Failed: c.Failed, Received: w.received},
	}
	w.samples = append(w.samples, s)
	w.meters.observe(s)
}

// measure reads the meters of all parts and how long the queue is.
func (w *pipelineWatch) measure(ctx context.Context) {
	now := w.read()
	tick := store.PipelineTick{OffsetNs: now[0].at - w.began}
	for i := range now {
		elapsed := float64(now[i].at-w.last[i].at) / 1e9
		cpu := (processor(now[i].broker) - processor(w.last[i].broker)) / max(elapsed, 1e-3)
		tick.CPU, tick.RSSBytes = append(tick.CPU, cpu), append(tick.RSSBytes, now[i].broker.RSSBytes)
		if elapsed >= shareWindow.Seconds() {
			w.peaks[i].PeakCPU = max(w.peaks[i].PeakCPU, cpu)
		}
		w.peaks[i].RSSBytes = max(w.peaks[i].RSSBytes, now[i].broker.RSSBytes)
	}
	w.last = now
	if depth, err := w.depth(ctx); err == nil {
		tick.Queue = &depth
		w.queueMax = new(max(depth, deref(w.queueMax)))
	}
	w.ticks = append(w.ticks, tick)
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// depth asks the broker, where its driver can.
func (w *pipelineWatch) depth(ctx context.Context) (int64, error) {
	gauge, ok := w.of.maker.(driver.Gauge)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return gauge.Depth(limited, 0, 0)
}

// read reads the meters of all parts; what they used is in broker.
func (w *pipelineWatch) read() []reading {
	now := make([]reading, len(w.sources))
	for i, source := range w.sources {
		now[i].at = clock.Now()
		if source == nil {
			now[i].broker = provision.SelfUsage()
			continue
		}
		now[i].broker = source.Sample()
	}
	return now
}

// parts are what each used from the first look to the last.
func (w *pipelineWatch) parts() []store.PipelinePart {
	for i := range w.peaks {
		w.peaks[i].UserSeconds = (w.last[i].broker.User - w.first[i].broker.User).Seconds()
		w.peaks[i].SystemSeconds = (w.last[i].broker.System - w.first[i].broker.System).Seconds()
	}
	return w.peaks
}
