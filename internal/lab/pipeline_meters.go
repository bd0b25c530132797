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
	began int64 // ns on the clock's axis
	queue queueWatch

	reading  sync.WaitGroup
	over     chan struct{} // closed by stop
	stopOnce sync.Once

	mu    sync.Mutex // beginMeasured is called from another goroutine
	parts []partMeter
	ticks []store.PipelineTick
}

// partMeter is what one part has used.
type partMeter struct {
	name    string
	meter   meter       // nil for the client, which is this process
	atBegin partReading // when the measured phase began
	latest  partReading
	peakCPU float64 // cores
	peakRSS int64   // bytes
}

// partReading is what a part had used at a time.
type partReading struct {
	at    int64 // ns on the clock's axis
	usage provision.Usage
}

// tickEach is the time between two readings of the parts' meters.
const tickEach = 500 * time.Millisecond

// newPipelineMeters returns the meters of all parts, in the direction of the messages.
func newPipelineMeters(p *pipeline) *pipelineMeters {
	m := &pipelineMeters{began: clock.Now(), over: make(chan struct{})}
	m.queue.gauge, _ = p.maker.(driver.Gauge)
	m.parts = append(m.parts, partMeter{name: "client"})
	add := func(name string, in *provision.Instance) {
		if in != nil {
			m.parts = append(m.parts, partMeter{name: name, meter: in.Meter()})
		}
	}
	add(study.PartBalancer, p.balancer)
	add(study.PartServer, p.servers)
	add("broker", p.bench.broker.instance)
	add(study.PartConsumer, p.consumer)
	add(statePart, p.state)
	return m
}

// start begins to read the meters, until stop is called. A goroutine of its own does it, because a paused broker does
// not answer when it is asked for its queue, and must not hold up the load.
func (m *pipelineMeters) start(ctx context.Context) {
	m.beginMeasured()
	m.reading.Go(func() {
		for {
			select {
			case <-time.After(tickEach):
				m.tick(ctx)
			case <-m.over:
				m.tick(ctx)
				return
			}
		}
	})
}

// stop reads the meters once more and blocks until that is done. It may be called again.
func (m *pipelineMeters) stop() {
	m.stopOnce.Do(func() { close(m.over) })
	m.reading.Wait()
}

// beginMeasured marks the beginning of the measured phase: what the parts have used before is not counted.
func (m *pipelineMeters) beginMeasured() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.parts {
		p := &m.parts[i]
		p.atBegin = p.read()
		if p.latest.at == 0 {
			p.latest = p.atBegin
		}
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
		cpu, rss := m.parts[i].update()
		tick.CPU, tick.RSSBytes = append(tick.CPU, cpu), append(tick.RSSBytes, rss)
	}
	return tick
}

// update reads the meter and returns the cores in use since it was last read, and the memory.
func (p *partMeter) update() (cpu float64, rss int64) {
	now := p.read()
	elapsed := time.Duration(now.at - p.latest.at)
	cpu = (processor(now.usage) - processor(p.latest.usage)) / max(elapsed, time.Millisecond).Seconds()
	if elapsed >= shareWindow { // over less time the kernel's ticks would make peaks
		p.peakCPU = max(p.peakCPU, cpu)
	}
	p.peakRSS = max(p.peakRSS, now.usage.RSSBytes)
	p.latest = now
	return cpu, now.usage.RSSBytes
}

func (p *partMeter) read() partReading {
	r := partReading{at: clock.Now()}
	if p.meter == nil {
		r.usage = provision.SelfUsage()
	} else {
		r.usage = p.meter.Sample()
	}
	return r
}

// used returns what each part used from the beginning of the measured phase to the last tick.
func (m *pipelineMeters) used() []store.PipelinePart {
	var parts []store.PipelinePart
	for _, p := range m.parts {
		parts = append(parts, store.PipelinePart{
			Name: p.name, PeakCPU: p.peakCPU, RSSBytes: p.peakRSS,
			UserSeconds:   (p.latest.usage.User - p.atBegin.usage.User).Seconds(),
			SystemSeconds: (p.latest.usage.System - p.atBegin.usage.System).Seconds(),
		})
	}
	return parts
}
