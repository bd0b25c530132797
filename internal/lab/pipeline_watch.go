package lab

import (
	"context"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// pipelineWatch looks at everything while the load runs.
type pipelineWatch struct {
	of      *pipeline
	runner  *load.Runner
	meters  *metering
	names   []string
	sources []meter // nil: this process
	reading sync.Mutex
	first   []reading
	last    []reading
	peaks   []store.PipelinePart
	ticks   []store.PipelineTick

	samples      []worker.Sample
	received     int64 // that the consumer had counted; a restarted one begins anew
	before       int64 // of consumers that were restarted
	lastReceived int64
	queue        queueWatch
	began        int64
}

// Between two looks at the counters, and at the meters and the queue.
const (
	lookEvery = 50 * time.Millisecond
	meterEach = 500 * time.Millisecond
)

func newPipelineWatch(p *pipeline, m *metering) *pipelineWatch {
	w := &pipelineWatch{of: p, meters: m, began: clock.Now()}
	w.queue.gauge, _ = p.maker.(driver.Gauge)
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
	if p.state != nil {
		add(statePart, p.state.Meter())
	}
	return w
}

// during watches while run runs.
func (w *pipelineWatch) during(ctx context.Context, run func() load.Outcome) load.Outcome {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-time.After(lookEvery):
			case <-over:
				return
			}
			w.look(ctx, true)
		}
	})
	o := run()
	close(over)
	watching.Wait()
	return o
}

// metered reads the meters and asks for the queue from now until stop, which does so once more: beside the looks, since a
// broker that is paused keeps whoever asks it waiting.
func (w *pipelineWatch) metered(ctx context.Context) (stop func()) {
	w.first = w.read()
	w.last = w.first
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-time.After(meterEach):
				w.measure(ctx)
			case <-over:
				w.measure(ctx)
				return
			}
		}
	})
	return func() { close(over); watching.Wait() }
}

// measured begins to count what the parts use: their warm-up is not a part of it.
func (w *pipelineWatch) measured() { w.first = w.read() }

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
	received := max(0, w.received-c.Warmed) // what was posted before the measured part comes first
	s := worker.Sample{
		At: now, Sending: sending, Phase: measure.Measured, Due: c.Due, Unconfirmed: max(0, c.Due-c.Failed-c.Accepted),
		Undelivered: max(0, c.Due-c.Failed-received), Backlog: max(0, c.Accepted-received),
		Count: measure.Count{Sent: c.Sent, Acked: c.Accepted, Failed: c.Failed, Received: received},
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
	w.queue.look(ctx, &tick)
	w.ticks = append(w.ticks, tick)
}

// read reads the meters of all parts; what they used is in broker.
func (w *pipelineWatch) read() []reading {
	w.reading.Lock()
	defer w.reading.Unlock()
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

// parts are what each used from when the measured part began to the last look.
func (w *pipelineWatch) parts() []store.PipelinePart {
	for i := range w.peaks {
		w.peaks[i].UserSeconds = (w.last[i].broker.User - w.first[i].broker.User).Seconds()
		w.peaks[i].SystemSeconds = (w.last[i].broker.System - w.first[i].broker.System).Seconds()
	}
	return w.peaks
}
