package lab

import (
	"os"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
)

// Meters count up: processor time only rises. What was used in an interval is the difference of two readings, and a share of the
// processor is that difference divided by the length of the interval, in cores.

// shareWindow is the shortest time over which shares of the processor mean anything: the kernel accounts in ticks of up to 10 ms.
const shareWindow = 100 * time.Millisecond

// interval is what was used between two readings.
type interval struct {
	shares     *store.Shares // nil if the readings are less than shareWindow apart
	neighbours provision.Neighbours
}

// intervalBetween returns what was used between two readings. For example, if the generator's processor time rose by 1.5 s in 2 s, its
// share is 0.75 of a core.
func (m *metering) intervalBetween(from, to reading) interval {
	u := interval{neighbours: to.census.Since(from.census, os.Getpid(), slices.Concat(from.roots, to.roots))}
	if time.Duration(to.at-from.at) < shareWindow {
		return u
	}
	elapsed, c := seconds(from.at, to.at), m.coresBetween(from, to)
	u.shares = &store.Shares{
		Seconds: elapsed, Broker: c.Broker, BrokerUser: c.BrokerUser, BrokerSystem: c.BrokerSystem, Generator: c.Generator, Sides: c.Sides,
		Relays: (processor(to.relays) - processor(from.relays)) / elapsed,
		Others: (u.neighbours.Used + u.neighbours.Stolen).Seconds() / elapsed,
	}
	return u
}

// coresBetween returns the cores in use between two readings.
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
		return store.SideTick{
			User: (to.User - from.User).Seconds() / elapsed, System: (to.System - from.System).Seconds() / elapsed, RSSBytes: to.RSSBytes,
		}
	}
	return &store.SidesTick{Producing: side(from.self, to.self), Consuming: side(from.consumers, to.consumers)}
}

// busier returns the interval in which broker and generator together used more cores. One without shares is returned only if
// neither has any.
func busier(a, b interval) interval {
	switch {
	case a.shares == nil:
		return b
	case b.shares == nil:
		return a
	case b.shares.Broker+b.shares.Generator > a.shares.Broker+a.shares.Generator:
		return b
	}
	return a
}
