package lab

import (
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
)

// brokerMeter reads what the processes of a broker use.
type brokerMeter interface {
	Sample() provision.Usage
	Roots() []int // the broker's processes, with all their descendants, are the trees below these
	PIDs() []int  // the broker's own processes
}

// meters read what the broker and this process use. Other processes of the clients have meters of their own. One trial's use of all of
// them is a metering.
type meters struct {
	local    brokerMeter     // of the processes on this machine; nil if there are none, or they were not found
	remote   remoteMeters    // of an attached broker's processes on other machines
	complete bool            // local and remote cover all nodes of the broker: only then its cost is known
	hidden   bool            // the attached broker is on this machine, but its processes were not found
	pids     pidSet          // all processes that local has reported
	runQueue provision.Queue // threads of this process that are ready and wait for a core
}

// brokerIsHere reports whether the broker's metered processes run on this machine, where they share the cores with the generator.
func (m *meters) brokerIsHere() bool { return m.local != nil || m.remote.allHere() }

// reading is what all meters show at one time. The counters of processor time, pauses and flushes only rise, so the difference of two
// readings is what was used in between: 12 s of the processor and then 15 s are 3 s.
type reading struct {
	at        int64 // ns on the clock's axis
	broker    brokerUsage
	here      []agent.Metered // the broker's usage by the meter of this machine, as the only element; empty if there is none
	self      provision.Usage // the generator's process, or its producing side if the consumers have a process of their own
	consumers provision.Usage // the consumers' own process; zero if there is none
	relays    provision.Usage // zero if there are none
	gc        time.Duration   // garbage collections stopped this process
	queued    time.Duration   // threads of this process were ready and waited for a core

	// Only readLive sets this: what the hypervisor has taken from each core of this machine since it started; empty if that is not known.
	stolen map[int]time.Duration
}

// fullReading is a reading with what takes milliseconds to read.
type fullReading struct {
	reading
	census    provision.Census // processor time of every process of the machine
	dataBytes int64            // size of the broker's data directories; 0 unless the broker was started here
	roots     []int            // roots of the process trees that take part in the measurement; some may be listed twice
	work      *work            // nil where it wasn't read
}

// brokerUsage is what all processes of the broker have used; zero if the broker is not metered.
type brokerUsage struct {
	provision.Usage
	flushes   int64 // how often they have flushed files; agent.NotCounted if the kernel doesn't tell
	flushGaps int64 // how often the kernel could not count flushes: between two readings with the same number, all were
	pids      []int // processes that a remote meter knows by number, because it is on this machine
}

// sumOf returns the sum over the readings of several meters. A sum with an unknown part is unknown.
func sumOf(parts []agent.Metered) brokerUsage {
	var sum brokerUsage
	for _, m := range parts {
		sum.Usage = sum.Plus(m.Used)
		sum.flushGaps += m.Gaps
		sum.pids = append(sum.pids, m.PIDs...)
		if sum.flushes != agent.NotCounted {
			sum.flushes += m.Flushes
		}
		if m.Flushes == agent.NotCounted {
			sum.flushes = agent.NotCounted
		}
	}
	return sum
}

// generatorSeconds is the processor time of the producing and the consuming side.
func (r reading) generatorSeconds() float64 { return processor(r.self) + processor(r.consumers) }

// processor is the processor time that was used, for the user and in the kernel, in seconds.
func processor(u provision.Usage) float64 { return (u.User + u.System).Seconds() }

// read reads the meters of a bench, one repetition under way. It takes less than a millisecond, so it may be called during a load. If
// agents in other processes are the generator, useAgents later replaces self, gc and queued by theirs.
func (b *bench) read() reading {
	r := reading{at: clock.Now(), self: provision.SelfUsage(), queued: b.meters.runQueue.Delay()}
	if b.clients.agent != nil {
		r.self = b.clients.agent.Used()
	}
	if b.spec.Generator != "" { // this process only looks on
		r.self = provision.Usage{}
	}
	if b.clients.tool != nil {
		r.self = b.clients.tool.Meter().Sample()
	}
	if b.meters.local != nil {
		here := agent.Metered{Used: b.meters.local.Sample()}
		here.Flushes, here.Gaps = b.meters.flushed(b.lab.flushes)
		r.here = []agent.Metered{here}
	}
	r.broker = sumOf(slices.Concat(r.here, b.meters.remote.latest()))
	if b.clients.consumers != nil {
		r.consumers = b.clients.consumers.Meter().Sample()
	}
	if b.clients.relays != nil {
		r.relays = b.clients.relays.Meter().Sample()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.gc = gc.PauseTotal
	return r
}

// readAll reads the meters as read does, and in addition every process of the machine and the size of the broker's data. It takes
// milliseconds, so it is called only before and after what is measured.
func (b *bench) readAll() fullReading {
	r := fullReading{reading: b.read(), census: provision.TakeCensus(), roots: b.roots()}
	if b.broker.instance != nil {
		r.dataBytes = b.broker.instance.Meter().DataBytes()
	}
	return r
}

// roots returns the roots of all process trees that take part in the measurement. All other processes may disturb it.
func (b *bench) roots() []int {
	var roots []int
	if b.meters.local != nil {
		roots = append(roots, b.meters.local.Roots()...)
	}
	instances := []*provision.Instance{b.clients.consumers, b.clients.relays, b.clients.tool}
	if b.clients.pipeline != nil {
		for _, p := range b.clients.pipeline.startedParts() {
			instances = append(instances, p.instance)
		}
	}
	for _, in := range instances {
		if in != nil {
			roots = append(roots, in.Meter().Roots()...)
		}
	}
	return append(roots, b.lab.options.AgentsHere()...)
}

// flushed returns how often the broker's processes, ended ones included, have flushed files, and how often the kernel could not
// count that. The first is agent.NotCounted if the kernel does not count at all, so that counter is nil.
func (m *meters) flushed(counter *provision.Flushes) (flushes, gaps int64) {
	if counter == nil {
		return agent.NotCounted, 0
	}
	return counter.Of(m.pids.add(m.local.PIDs()))
}

// pidSet is a set of process ids. It forgets none, because what ended processes did counts. It may be used by several goroutines.
type pidSet struct {
	mu   sync.Mutex
	pids map[int]bool
}

// add adds processes and returns all processes of the set.
func (s *pidSet) add(pids []int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pids == nil {
		s.pids = map[int]bool{}
	}
	for _, pid := range pids {
		s.pids[pid] = true
	}
	return slices.Collect(maps.Keys(s.pids))
}

// A reading holds counters that only rise, such as processor time; what ended processes had used stays in them. What was used in an
// interval is the difference of two readings, and the cores in use are that difference divided by the interval's length: 1.5 s of
// processor time in 2 s are 0.75 of a core.

// shareWindow is the shortest interval over which the cores in use mean anything: the kernel accounts in ticks of up to 10 ms.
const shareWindow = 100 * time.Millisecond

// interval is what was used between two readings.
type interval struct {
	shares     *store.Shares        // nil if the readings are less than shareWindow apart
	strain     strain               // zero likewise
	neighbours provision.Neighbours // processes that take no part in the measurement
}

// intervalBetween returns what was used between two readings.
func (m *metering) intervalBetween(from, to fullReading) interval {
	roots := slices.Concat(from.roots, from.broker.pids, to.roots, to.broker.pids)
	neighbours := to.census.Since(from.census, os.Getpid(), roots)
	if time.Duration(to.at-from.at) < shareWindow {
		return interval{neighbours: neighbours}
	}
	elapsed, c := seconds(from.at, to.at), m.coresBetween(from.reading, to.reading)
	return interval{neighbours: neighbours, strain: strainBetween(from, to), shares: &store.Shares{
		Seconds: elapsed, Broker: c.Broker, BrokerUser: c.BrokerUser, BrokerSystem: c.BrokerSystem, Generator: c.Generator, Sides: c.Sides,
		Relays: (processor(to.relays) - processor(from.relays)) / elapsed,
		Others: (neighbours.Used + neighbours.Stolen).Seconds() / elapsed,
	}}
}

// coresBetween returns the cores in use between two readings; none if they were taken at the same time.
func (m *metering) coresBetween(from, to reading) Cores {
	elapsed := seconds(from.at, to.at)
	if elapsed == 0 {
		return Cores{}
	}
	c := Cores{
		Broker:       (processor(to.broker.Usage) - processor(from.broker.Usage)) / elapsed,
		Generator:    (to.generatorSeconds() - from.generatorSeconds()) / elapsed,
		BrokerUser:   (to.broker.User - from.broker.User).Seconds() / elapsed,
		BrokerSystem: (to.broker.System - from.broker.System).Seconds() / elapsed,
	}
	if m.bench.clients.consumers != nil { // the generator's two sides are processes of their own
		c.Sides = &store.SidesTick{
			Producing: sideBetween(from.self, to.self, elapsed), Consuming: sideBetween(from.consumers, to.consumers, elapsed),
		}
	}
	return c
}

// sideBetween returns the cores that a process used in the elapsed seconds between two readings, and its memory at the second.
func sideBetween(first, second provision.Usage, elapsed float64) store.SideTick {
	return store.SideTick{
		User:     (second.User - first.User).Seconds() / elapsed,
		System:   (second.System - first.System).Seconds() / elapsed,
		RSSBytes: second.RSSBytes,
	}
}

// busier returns the interval in which broker and generator together used more cores. One without shares is never the busier.
func busier(a, b interval) interval {
	switch {
	case b.shares == nil:
		return a
	case a.shares == nil, b.shares.Broker+b.shares.Generator > a.shares.Broker+a.shares.Generator:
		return b
	}
	return a
}
