package lab

import (
	"runtime/debug"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
)

// meter reads what the processes of a broker use.
type meter interface {
	Sample() provision.Usage
	Roots() []int // the broker's processes, with all their descendants, are the trees below these
	PIDs() []int  // the broker's own processes
}

// reading is what all meters show at one time. The counters of processor time, pauses and flushes only rise, so what was used
// in between is the difference of two readings.
type reading struct {
	at        int64           // ns on the clock's axis
	broker    provision.Usage // zero if the broker is not metered
	here      []agent.Metered // the broker's usage by the meter of this machine; empty if there is none
	self      provision.Usage // the generator's process, or its producing side if the consumers have a process of their own
	consumers provision.Usage // the consumers' own process; zero if there is none
	relays    provision.Usage // zero if there are none
	gc        time.Duration   // garbage collections stopped this process
	queued    time.Duration   // threads of this process were ready and waited for a core
	flushes   int64           // how often the broker's processes have flushed files; unknownFlushes if the kernel doesn't tell
	flushGaps int64           // how often the kernel could not count flushes: between two readings with the same number, all were

	// Only survey reads these.
	census    provision.Census // processor time of every process of the machine
	dataBytes int64            // size of the broker's data directories; 0 unless the broker was started here
	roots     []int            // roots of the process trees that take part in the measurement
}

// unknownFlushes stands for a number of flushes that the kernel does not count.
const unknownFlushes = -1

// generatorSeconds is the processor time of the producing and the consuming side.
func (r reading) generatorSeconds() float64 { return processor(r.self) + processor(r.consumers) }

// processor is the processor time that was used, in seconds.
func processor(u provision.Usage) float64 { return (u.User + u.System).Seconds() }

// read reads the meters. It takes less than a millisecond, so it may be called while a load is measured.
func (b *bench) read() reading {
	r := reading{at: clock.Now(), self: provision.SelfUsage(), queued: b.queue.Delay()}
	if b.agent != nil {
		r.self = b.agent.Used()
	}
	if b.meter != nil {
		used := agent.Metered{Used: b.meter.Sample()}
		used.Flushes, used.Gaps = b.flushed()
		r.here = []agent.Metered{used}
	}
	r.addRemote(b.remoteMeters.latest())
	if b.consuming != nil {
		r.consumers = b.consuming.Meter().Sample()
	}
	if b.relays != nil {
		r.relays = b.relays.Meter().Sample()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.gc = gc.PauseTotal
	return r
}

// survey is read with every process of the machine and the size of the broker's data. It takes milliseconds, so it is called
// only at the edges of what is measured.
func (b *bench) survey() reading {
	r := b.read()
	r.census = provision.TakeCensus()
	if b.instance != nil {
		r.dataBytes = b.instance.Meter().DataBytes()
	}
	r.roots = append(r.roots, b.roots()...)
	return r
}

// roots returns the roots of all process trees that take part in the measurement. All other processes are others, which may
// disturb it.
func (b *bench) roots() []int {
	var roots []int
	if b.meter != nil {
		roots = append(roots, b.meter.Roots()...)
	}
	instances := []*provision.Instance{b.consuming, b.relays}
	if b.pipeline != nil {
		for _, part := range b.pipeline.instances() {
			instances = append(instances, part)
		}
	}
	for _, in := range instances {
		if in != nil {
			roots = append(roots, in.Meter().Roots()...)
		}
	}
	return append(roots, b.lab.agentsHere()...)
}
