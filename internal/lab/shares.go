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
	// busyShare is the share of all cores that others may use before they are taken to disturb a measurement.
	busyShare = 0.1
)

// phase is what was used between two readings.
type phase struct {
	shares *store.Shares // nil where they are too close together to tell
	near   provision.Neighbours
}

// phase is newPhase with the sides of the generator.
func (m *metering) phase(from, to reading) phase {
	p := newPhase(from, to)
	if p.shares != nil {
		p.shares.Sides = m.sidesOver(from, to)
	}
	return p
}

func newPhase(from, to reading) phase {
	p := phase{near: to.all.Since(from.all, os.Getpid(), slices.Concat(from.roots, to.roots))}
	over := time.Duration(to.at - from.at)
	if over < shareWindow {
		return p
	}
	p.shares = &store.Shares{
		Seconds:      over.Seconds(),
		Broker:       (processor(to.broker) - processor(from.broker)) / over.Seconds(),
		BrokerUser:   (to.broker.User - from.broker.User).Seconds() / over.Seconds(),
		BrokerSystem: (to.broker.System - from.broker.System).Seconds() / over.Seconds(),
		Generator:    (to.generator() - from.generator()) / over.Seconds(),
		Relays:       (processor(to.relays) - processor(from.relays)) / over.Seconds(),
		Others:       (p.near.Used + p.near.Stolen).Seconds() / over.Seconds(),
	}
	return p
}

func processor(u provision.Usage) float64 { return (u.User + u.System).Seconds() }

// busier is the part, before or after the last message was sent, in which broker and generator used more.
func busier(a, b phase) phase {
	if a.shares == nil || b.shares != nil && b.shares.Broker+b.shares.Generator > a.shares.Broker+a.shares.Generator {
		return b
	}
	return a
}

func (t trial) generatorCPU() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Generator
}

func (t trial) brokerCPU() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Broker
}

// others are the cores by which a trial was disturbed: what others used that would have been there without it. Where the
// broker may be one of them that is no more than what the hypervisor took.
func (t trial) others() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	if t.amongOthers {
		return t.near.Stolen.Seconds() / t.Cost.Shares.Seconds
	}
	return t.Cost.Shares.Others
}

// crowded doubts a trial whose processors were used up, by broker and generator together or by other processes.
func (b *bench) crowded(t trial, d *doubts) {
	if t.Window > 0 && t.Cost.Shares == nil {
		d.add("coarse-cpu", "it took %s, and processor time is told too coarsely for that: cost means little, and whether the generator or others used up the cores isn't known", t.Window)
	}
	s, cores := t.Cost.Shares, float64(b.lab.host.Cores)
	if s == nil {
		return
	}
	switch here := t.coresHere(); {
	case b.meter == nil || s.Broker+here+s.Relays <= 0.9*cores:
	case b.relays != nil:
		d.add("shared-cores", "broker (%.1f), generator (%.1f) and relays (%.1f) together used up the %.0f cores they share", s.Broker, here, s.Relays, cores)
	default:
		d.add("shared-cores", "broker (%.1f) and generator (%.1f) together used up the %.0f cores they share", s.Broker, here, cores)
	}
	if s.Others > busyShare*cores {
		d.add("busy-machine", "%s", t.neighbours(cores))
	}
	if unseen := t.near.Unseen.Seconds() / s.Seconds; unseen > busyShare*cores && s.Seconds >= 1 {
		d.add("busy-machine", "processes that can't be seen from here used %.1f of the %.0f cores meanwhile", unseen, cores)
	}
}

// neighbours states the processor time of other processes and of the hypervisor.
func (t trial) neighbours(cores float64) remark.Remark {
	seconds := t.Cost.Shares.Seconds
	used := t.near.Used.Seconds() / seconds
	if used < 0.05 {
		return remark.Of("the hypervisor took %.1f of the %.0f cores meanwhile", t.near.Stolen.Seconds()/seconds, cores)
	}
	parts := []remark.Remark{remark.Of("other processes used %.1f of the %.0f cores meanwhile", used, cores)}
	if t.near.Biggest != "" {
		parts = append(parts, remark.Of(" (%s %.1f)", t.near.Biggest, t.near.BiggestUsed.Seconds()/seconds))
	}
	if stolen := t.near.Stolen.Seconds() / seconds; stolen >= 0.05 {
		parts = append(parts, remark.Of(", and the hypervisor took %.1f", stolen))
	}
	if t.amongOthers {
		parts = append(parts, remark.Of("; the attached broker may be among them"))
	}
	return remark.List(parts, "")
}
