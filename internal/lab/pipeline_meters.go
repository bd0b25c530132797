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

// pipelineMeters reads what each part of a pipeline uses twice a second while a load runs, and asks how long the broker's
// queue is as often, or oftener in a short load.
type pipelineMeters struct {
	began int64 // ns on the clock's axis
	queue queueWatch
	looks int                  // how often the queue is asked for from one tick to the next
	ticks []store.PipelineTick // one for each reading; complete when the function that start returned has returned

	mu    sync.Mutex  // guards parts: beginMeasured is called while the meters are read
	parts []partMeter // of client, balancer, servers, broker, consumer and state: those that there are, in this order
}

// partMeter is what one part has used. For example, one that had used 3 s of the processor when the measured phase
// began and 5 s at the last reading used 2 s for the load.
type partMeter struct {
	name     string
	read     func() provision.Usage // what the part's processes have used until now
	atBegin  provision.Usage        // when the measured phase began
	latest   provision.Usage
	readAt   int64 // when latest was read, ns on the clock's axis
	ticked   provision.Usage
	tickedAt int64   // when ticked was read, by the last tick
	peakCPU  float64 // cores, in the measured phase and the drain
	peakRSS  int64   // bytes, likewise
}

// tickEach is the time between two readings of the parts' meters.
const tickEach = 500 * time.Millisecond

// looksIn returns how often to ask for the queue from one tick to the next in a load that is expected to last so long: fifty times in
// all, but not more than ten times a second, which the broker would feel.
func looksIn(expected time.Duration) int {
	const inAll, most = 50, int(tickEach / (100 * time.Millisecond))
	return min(most, max(1, int(inAll*tickEach/max(1, expected))))
}

// newPipelineMeters returns the meters of all parts that have been started.
func newPipelineMeters(p *pipeline) *pipelineMeters {
	m := &pipelineMeters{began: clock.Now(), looks: looksIn(time.Duration(study.EstimateSeconds(p.bench.spec) * float64(time.Second)))}
	if gauge, ok := p.admin.(driver.Gauge); ok { // otherwise the driver can't ask for the queue, and no tick has it
		m.queue.gauge = gauge
	}
	add := func(name string, read func() provision.Usage) {
		used, at := read(), clock.Now()
		m.parts = append(m.parts, partMeter{name: name, read: read, atBegin: used, latest: used, readAt: at, ticked: used, tickedAt: at})
	}
	add("client", provision.SelfUsage) // this process
	for _, running := range p.startedParts() {
		if running.name == study.PartConsumer { // the broker comes between servers and consumer
			add("broker", p.bench.broker.instance.Meter().Sample)
		}
		add(running.name, running.instance.Meter().Sample)
	}
	return m
}

// start waits until the memory of the queue at rest is known, and begins to read the meters. A goroutine of its own does that, because a
// paused broker does not answer when it is asked for its queue, and must not hold up the load. The caller calls end once, which
// reads the meters a last time.
func (m *pipelineMeters) start(ctx context.Context) (end func()) {
	m.queue.rest(ctx)
	looks := 0
	endLooks := clock.Repeat(tickEach/time.Duration(m.looks), func() {
		if looks++; looks%m.looks == 0 {
			m.tick(ctx)
		} else {
			m.queue.look(ctx)
		}
	})
	return func() {
		endLooks()
		m.tick(ctx)
	}
}

// beginMeasured marks the beginning of the measured phase: what the parts have used before is not counted.
func (m *pipelineMeters) beginMeasured() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.parts {
		p := &m.parts[i]
		p.update() // so that the next peak is of the measured phase alone
		p.atBegin, p.peakCPU, p.peakRSS = p.latest, 0, p.latest.RSSBytes
	}
}

// tick reads the meters and asks for the queue.
func (m *pipelineMeters) tick(ctx context.Context) {
	tick := m.readParts()
	if answer, ok := m.queue.ask(ctx); ok {
		m.queue.add(&tick, answer)
	}
	m.ticks = append(m.ticks, tick)
}

// readParts reads the meters of all parts.
func (m *pipelineMeters) readParts() store.PipelineTick {
	m.mu.Lock()
	defer m.mu.Unlock()
	tick := store.PipelineTick{OffsetNs: clock.Now() - m.began}
	for i := range m.parts {
		p := &m.parts[i]
		p.update()
		tick.CPU = append(tick.CPU, meanCores(p.ticked, p.latest, time.Duration(p.readAt-p.tickedAt)))
		tick.RSSBytes = append(tick.RSSBytes, p.latest.RSSBytes)
		p.ticked, p.tickedAt = p.latest, p.readAt
	}
	return tick
}

// update reads the meter, and takes what was used since it was last read, by a tick or when the measured phase began,
// into the peaks.
func (p *partMeter) update() {
	used, at := p.read(), clock.Now()
	elapsed := time.Duration(at - p.readAt)
	if elapsed >= shareWindow { // over less than 100 ms, the coarse ticks in which the kernel accounts would show as peaks
		p.peakCPU = max(p.peakCPU, meanCores(p.latest, used, elapsed))
	}
	p.peakRSS = max(p.peakRSS, used.RSSBytes)
	p.latest, p.readAt = used, at
}

// meanCores returns the cores in use between two readings.
func meanCores(from, to provision.Usage, elapsed time.Duration) float64 {
	return (processor(to) - processor(from)) / max(elapsed, time.Millisecond).Seconds()
}

// used returns what each part used from the beginning of the measured phase to the last tick. The meters must have been
// stopped.
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

// queueWatch asks the broker how long the pipeline's queue is, and computes rates from its counters. For example, a
// broker that reports 500 messages published, and 800 of them a second later, takes 300/s.
type queueWatch struct {
	gauge    driver.Gauge  // nil if the broker's driver can't ask
	longest  *int64        // messages; nil if the broker has never reported it
	atRest   *int64        // bytes of memory before the load; nil likewise
	capacity *float64      // the least; nil likewise
	samples  []queueSample // by time, from the one that the last rate was taken from
}

// queueSample is what the broker reported at a time.
type queueSample struct {
	at    int64 // ns on the clock's axis
	queue driver.Queue
}

// rateWindow is the shortest time over which a rate is taken. RabbitMQ updates its counters once a second, so over half
// a second rates would alternate between 0 and double. It is less than a second, because ticks are only about tickEach
// apart.
const rateWindow = 900 * time.Millisecond

// ask asks the broker; false if it does not answer, and a tick has no figures of the queue then.
func (w *queueWatch) ask(ctx context.Context) (queueSample, bool) {
	if w.gauge == nil {
		return queueSample{}, false
	}
	const timeout = time.Second // a broker that is paused never answers
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	q, err := w.gauge.Queue(ctx, 0, 0) // the pipeline has one topic and one subscription
	return queueSample{at: clock.Now(), queue: q}, err == nil
}

// look asks the broker for what note keeps; the zero value if it does not answer.
func (w *queueWatch) look(ctx context.Context) driver.Queue {
	answer, ok := w.ask(ctx)
	if !ok {
		return driver.Queue{}
	}
	w.note(answer.queue)
	return answer.queue
}

// rest asks the broker, before the load, how much memory it uses for the queue, until it has counted that. RabbitMQ counts every second.
func (w *queueWatch) rest(ctx context.Context) {
	const patience, pause = 3 * time.Second, 200 * time.Millisecond
	for range patience / pause {
		memory := w.look(ctx).Memory
		if memory == nil {
			return
		}
		if *memory > 0 {
			w.atRest = memory
			return
		}
		time.Sleep(pause)
	}
}

// note keeps the longest queue and the least capacity.
func (w *queueWatch) note(q driver.Queue) {
	if n := reported(q.Waiting); n != nil && (w.longest == nil || *w.longest < *n) {
		w.longest = n
	}
	if c := q.Capacity; c != nil && (w.capacity == nil || *c < *w.capacity) {
		w.capacity = c
	}
}

// add sets a sample in tick, with the rates since the latest one that is at least rateWindow older.
func (w *queueWatch) add(tick *store.PipelineTick, now queueSample) {
	tick.Queue, tick.Unacked = reported(now.queue.Waiting), reported(now.queue.Unacked)
	w.note(now.queue)
	w.samples = append(w.samples, now)
	age := func(s queueSample) time.Duration { return time.Duration(now.at - s.at) }
	for len(w.samples) > 1 && age(w.samples[1]) >= rateWindow {
		w.samples = w.samples[1:]
	}
	if from := w.samples[0]; age(from) >= rateWindow {
		tick.PublishedRate = counterRate(from.queue.Published, now.queue.Published, age(from))
		tick.DeliveredRate = counterRate(from.queue.Delivered, now.queue.Delivered, age(from))
	}
}

// reported returns a count of the broker; nil if the broker doesn't report it.
func reported(count int64) *int64 {
	if count == driver.Unknown {
		return nil
	}
	return &count
}

// counterRate returns the rate between two counts; nil if one is unknown, or if the counter began again in between.
func counterRate(before, after int64, elapsed time.Duration) *float64 {
	if before == driver.Unknown || after == driver.Unknown || after < before {
		return nil
	}
	return new(float64(after-before) / elapsed.Seconds())
}
