package lab

import (
	"os"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
)

// A reading holds counters that only rise, such as processor time. What was used in an interval is the difference of two readings, and
// the cores in use are that difference divided by the interval's length: 1.5 s of processor time in 2 s are 0.75 of a core.

// shareWindow is the shortest interval over which the cores in use mean anything: the kernel accounts in ticks of up to 10 ms.
const shareWindow = 100 * time.Millisecond

// interval is what was used between two readings.
type interval struct {
	shares     *store.Shares        // nil if the readings are less than shareWindow apart
	neighbours provision.Neighbours // processes that take no part in the measurement
}

// intervalBetween returns what was used between two readings by readAll.
func (m *metering) intervalBetween(from, to reading) interval {
	neighbours := to.census.Since(from.census, os.Getpid(), slices.Concat(from.roots, to.roots))
	if time.Duration(to.at-from.at) < shareWindow {
		return interval{neighbours: neighbours}
	}
	elapsed, c := seconds(from.at, to.at), m.coresBetween(from, to)
	return interval{neighbours: neighbours, shares: &store.Shares{
		Seconds: elapsed, Broker: c.Broker, BrokerUser: c.BrokerUser, BrokerSystem: c.BrokerSystem, Generator: c.Generator, Sides: c.Sides,
		Relays: (processor(to.relays) - processor(from.relays)) / elapsed,
		Others: (neighbours.Used + neighbours.Stolen).Seconds() / elapsed,
	}}
}

// coresBetween returns the cores in use between two readings, which are at different times.
func (m *metering) coresBetween(from, to reading) Cores {
	elapsed := seconds(from.at, to.at)
	return Cores{
		Broker:       (processor(to.broker) - processor(from.broker)) / elapsed,
		Generator:    (to.generatorSeconds() - from.generatorSeconds()) / elapsed,
		BrokerUser:   (to.broker.User - from.broker.User).Seconds() / elapsed,
		BrokerSystem: (to.broker.System - from.broker.System).Seconds() / elapsed,
		Sides:        m.sidesBetween(from, to),
	}
}

// sidesBetween returns the cores in use by each side of the generator between two readings, and its memory at the second. It
// returns nil if both sides are one process.
func (m *metering) sidesBetween(from, to reading) *store.SidesTick {
	if m.bench.clients.consumers == nil {
		return nil
	}
	elapsed := seconds(from.at, to.at)
	side := func(from, to provision.Usage) store.SideTick {
		used := usedBetween(from, to, to.RSSBytes)
		return store.SideTick{User: used.UserSeconds / elapsed, System: used.SystemSeconds / elapsed, RSSBytes: used.RSSBytes}
	}
	return &store.SidesTick{Producing: side(from.self, to.self), Consuming: side(from.consumers, to.consumers)}
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
