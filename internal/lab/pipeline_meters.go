package lab

import (
	"context"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// pipelineMeters reads what each part of a pipeline uses, and how long the broker's queue is, while a load runs.
type pipelineMeters struct {
	began int64  // ns on the clock's axis
	stop  func() // reads the meters once more and blocks until that is done; it may be called again
	queue queueWatch
	ticks []store.PipelineTick // complete when stop has returned

	mu    sync.Mutex  // guards parts: beginMeasured is called from another goroutine
	parts []partMeter // client, balancer, servers, broker, consumer, state: those that there are
}

// partMeter is what one part has used.
type partMeter struct {
	name    string
	read    func() provision.Usage // what the part's processes have used until now
	atBegin provision.Usage        // when the measured phase began
	latest  provision.Usage
	readAt  int64   // when latest was read, ns on the clock's axis
	peakCPU float64 // cores
	peakRSS int64   // bytes
}

// tickEach is the time between two readings of the parts' meters.
const tickEach = 500 * time.Millisecond

// newPipelineMeters returns the meters of all parts.
func newPipelineMeters(p *pipeline) *pipelineMeters {
	m := &pipelineMeters{began: clock.Now()}
	m.queue.gauge, _ = p.maker.(driver.Gauge)
	add := func(name string, read func() provision.Usage) {
		used := read()
		m.parts = append(m.parts, partMeter{name: name, read: read, atBegin: used, latest: used, readAt: clock.Now()})
	}
	add("client", provision.SelfUsage) // this process
	for _, part := range p.parts() {
		if part.name == study.PartConsumer {
			add("broker", p.bench.broker.instance.Meter().Sample)
		}
		add(part.name, part.instance.Meter().Sample)
	}
	return m
}

// start begins to read the meters, until stop is called. A goroutine of its own does it, because a paused broker does not answer
// when it is asked for its queue, and must not hold up the load.
func (m *pipelineMeters) start(ctx context.Context) {
	stopTicks := repeat(tickEach, func() { m.tick(ctx) })
	m.stop = sync.OnceFunc(func() {
		stopTicks()
		m.tick(ctx)
	})
}

// beginMeasured marks the beginning of the measured phase: what the parts have used before is not counted.
func (m *pipelineMeters) beginMeasured() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.parts {
		m.parts[i].atBegin = m.parts[i].read()
	}
}

// tick reads the meters and the queue.
func (m *pipelineMeters) tick(ctx context.Context) {
	tick := m.readParts()
	m.queue.sample(ctx, &tick)
	m.ticks = append(m.ticks, tick)
}

func (m *pipelineMeters) readParts() store.PipelineTick {
	m.mu.Lock()
	defer m.mu.Unlock()
	tick := store.PipelineTick{OffsetNs: clock.Now() - m.began}
	for i := range m.parts {
		cores := m.parts[i].update()
		tick.CPU, tick.RSSBytes = append(tick.CPU, cores), append(tick.RSSBytes, m.parts[i].latest.RSSBytes)
	}
	return tick
}

// update reads the meter and returns the cores in use since it was last read.
func (p *partMeter) update() (cores float64) {
	used, at := p.read(), clock.Now()
	elapsed := time.Duration(at - p.readAt)
	cores = (processor(used) - processor(p.latest)) / max(elapsed, time.Millisecond).Seconds()
	if elapsed >= shareWindow { // over less time the kernel's ticks would make peaks
		p.peakCPU = max(p.peakCPU, cores)
	}
	p.peakRSS = max(p.peakRSS, used.RSSBytes)
	p.latest, p.readAt = used, at
	return cores
}

// used returns what each part used from the beginning of the measured phase to the last tick.
func (m *pipelineMeters) used() []store.PipelinePart {
	var parts []store.PipelinePart
	for _, p := range m.parts {
		parts = append(parts, store.PipelinePart{
			Name: p.name, PeakCPU: p.peakCPU, RSSBytes: p.peakRSS,
			UserSeconds:   (p.latest.User - p.atBegin.User).Seconds(),
			SystemSeconds: (p.latest.System - p.atBegin.System).Seconds(),
		})
	}
	return parts
}
