package lab

import (
	"os"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
)

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
