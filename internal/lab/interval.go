package lab

import (
	"os"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

const (
	// shareWindow is the shortest time over which shares of the processor mean anything: the kernel accounts in ticks of
	// up to 10 ms.
	shareWindow = 100 * time.Millisecond
	// usedUpShare is the share of all cores from which they count as used up: the rest goes to interrupts and to waiting.
	usedUpShare = 0.9
	// busyShare is the share of all cores above which other processes count as disturbing a measurement.
	busyShare = 0.1
	// shownCores is the least number of cores that is worth a clause in a sentence: less is shown as 0.0.
	shownCores = 0.05
)

// interval is what was used between two readings.
type interval struct {
	shares     *store.Shares // nil if the readings are less than shareWindow apart
	neighbours provision.Neighbours
}

// intervalBetween returns what was used between two readings.
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

// generatorCPU returns the cores that the generator used; 0 if that is not known.
func (t trial) generatorCPU() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Generator
}

// brokerCPU returns the cores that the broker used; 0 if that is not known.
func (t trial) brokerCPU() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Broker
}

// others returns the cores that were taken from a trial by something that has nothing to do with it; 0 if that is not known. If
// the broker may be one of the other processes, only what the hypervisor took is certain.
func (t trial) others() float64 {
	switch {
	case t.Cost.Shares == nil:
		return 0
	case t.brokerMayBeNeighbour:
		return t.neighbours.Stolen.Seconds() / t.Cost.Shares.Seconds
	}
	return t.Cost.Shares.Others
}

// doubtCores adds doubts if broker and generator together used up the cores, or if other processes used many.
func (b *bench) doubtCores(t trial, d *doubts) {
	s, cores := t.Cost.Shares, float64(b.lab.host.Cores)
	if s == nil {
		if t.Window > 0 { // the cost was metered
			d.add("coarse-cpu", "it took %s, and processor time is told too coarsely for that: cost means little, and whether the generator or others used up the cores isn't known", t.Window)
		}
		return
	}
	brokerIsHere, generator := b.meters.local != nil || b.meters.remote.allHere(), t.coresHere()
	usedUp := brokerIsHere && s.Broker+generator+s.Relays > usedUpShare*cores
	switch {
	case usedUp && b.clients.relays != nil:
		d.add("shared-cores", "broker (%.1f), generator (%.1f) and relays (%.1f) together used up the %.0f cores they share", s.Broker, generator, s.Relays, cores)
	case usedUp:
		d.add("shared-cores", "broker (%.1f) and generator (%.1f) together used up the %.0f cores they share", s.Broker, generator, cores)
	}
	if s.Others > busyShare*cores {
		d.add("busy-machine", "%s", t.usedByOthers(cores))
	}
	// Over less than a second, the kernel's rounding alone may come to that much.
	if unseen := t.neighbours.Unseen.Seconds() / s.Seconds; unseen > busyShare*cores && s.Seconds >= 1 {
		d.add("busy-machine", "processes that can't be seen from here used %.1f of the %.0f cores meanwhile", unseen, cores)
	}
}

// usedByOthers states what other processes and the hypervisor used. The trial must have shares.
func (t trial) usedByOthers(cores float64) remark.Remark {
	perSecond := func(used time.Duration) float64 { return used.Seconds() / t.Cost.Shares.Seconds }
	used, stolen := perSecond(t.neighbours.Used), perSecond(t.neighbours.Stolen)
	if used < shownCores {
		return remark.Of("the hypervisor took %.1f of the %.0f cores meanwhile", stolen, cores)
	}
	clauses := []remark.Remark{remark.Of("other processes used %.1f of the %.0f cores meanwhile", used, cores)}
	if t.neighbours.Biggest != "" {
		clauses = append(clauses, remark.Of(" (%s %.1f)", t.neighbours.Biggest, perSecond(t.neighbours.BiggestUsed)))
	}
	if stolen >= shownCores {
		clauses = append(clauses, remark.Of(", and the hypervisor took %.1f", stolen))
	}
	if t.brokerMayBeNeighbour {
		clauses = append(clauses, remark.Of("; the attached broker may be among them"))
	}
	return remark.List(clauses, "")
}
