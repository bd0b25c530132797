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

// used returns what was used between two readings, with the sides of the generator.
func (m *metering) used(from, to reading) interval {
	u := intervalBetween(from, to)
	if u.shares != nil {
		u.shares.Sides = m.sidesBetween(from, to)
	}
	return u
}

func intervalBetween(from, to reading) interval {
	u := interval{neighbours: to.census.Since(from.census, os.Getpid(), slices.Concat(from.roots, to.roots))}
	length := time.Duration(to.at - from.at)
	if length < shareWindow {
		return u
	}
	seconds := length.Seconds()
	u.shares = &store.Shares{
		Seconds:      seconds,
		Broker:       (processor(to.broker) - processor(from.broker)) / seconds,
		BrokerUser:   (to.broker.User - from.broker.User).Seconds() / seconds,
		BrokerSystem: (to.broker.System - from.broker.System).Seconds() / seconds,
		Generator:    (to.generatorSeconds() - from.generatorSeconds()) / seconds,
		Relays:       (processor(to.relays) - processor(from.relays)) / seconds,
		Others:       (u.neighbours.Used + u.neighbours.Stolen).Seconds() / seconds,
	}
	return u
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

// crowded adds doubts if the cores were used up by broker and generator together, or used by other processes.
func (b *bench) crowded(t trial, d *doubts) {
	if t.Window > 0 && t.Cost.Shares == nil {
		d.add("coarse-cpu", "it took %s, and processor time is told too coarsely for that: cost means little, and whether the generator or others used up the cores isn't known", t.Window)
	}
	s, cores := t.Cost.Shares, float64(b.lab.host.Cores)
	if s == nil {
		return
	}
	here := t.coresHere()
	if (b.meter != nil || b.away.here()) && s.Broker+here+s.Relays > usedUpShare*cores {
		if b.relays != nil {
			d.add("shared-cores", "broker (%.1f), generator (%.1f) and relays (%.1f) together used up the %.0f cores they share", s.Broker, here, s.Relays, cores)
		} else {
			d.add("shared-cores", "broker (%.1f) and generator (%.1f) together used up the %.0f cores they share", s.Broker, here, cores)
		}
	}
	if s.Others > busyShare*cores {
		d.add("busy-machine", "%s", t.usedByOthers(cores))
	}
	if unseen := t.neighbours.Unseen.Seconds() / s.Seconds; unseen > busyShare*cores && s.Seconds >= 1 { // over less time, the kernel's rounding alone may come to that
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
