package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// trialCost is what a trial used, and what else used the machine meanwhile. metering.finish fills it.
type trialCost struct {
	Cost   store.Cost
	Window time.Duration // over which the cost was taken: the measured phase and the drain

	// In the measured phase:
	GCPause time.Duration // garbage collections stopped this process
	Queued  time.Duration // threads of this process were ready and waited for a core
	Stolen  time.Duration // the hypervisor took it, over all cores

	neighbours           provision.Neighbours // over the same time as Cost.Shares
	brokerMayBeNeighbour bool                 // an attached broker whose processes were not found may be one of them
}

// peakMemory is the largest resident memory that was read, in bytes.
type peakMemory struct {
	broker, self, consumers, relays int64
	generator                       int64 // self and consumers at the same time
}

func (p *peakMemory) add(r reading) {
	p.broker = max(p.broker, r.broker.RSSBytes)
	p.self = max(p.self, r.self.RSSBytes)
	p.consumers = max(p.consumers, r.consumers.RSSBytes)
	p.relays = max(p.relays, r.relays.RSSBytes)
	p.generator = max(p.generator, r.self.RSSBytes+r.consumers.RSSBytes)
}

// cost returns what was used between two readings, and the messages that it counts for: those of the measured phase that were
// confirmed.
func (m *metering) cost(begin, end reading, out worker.Outcome) store.Cost {
	c := store.Cost{
		GeneratorUserSeconds:   (end.self.User - begin.self.User + end.consumers.User - begin.consumers.User).Seconds(),
		GeneratorSystemSeconds: (end.self.System - begin.self.System + end.consumers.System - begin.consumers.System).Seconds(),
		GeneratorRSSBytes:      m.peak.generator,
		GeneratorGCPauseNs:     int64(end.gc - begin.gc),
		Messages:               out.Measured.Acked,
		Bytes:                  confirmedBytes(out),
	}
	if m.bench.clients.consumers != nil {
		c.Sides = &store.Sides{
			Producing: side(begin.self, end.self, m.peak.self),
			Consuming: side(begin.consumers, end.consumers, m.peak.consumers),
		}
	}
	if m.bench.clients.relays != nil {
		c.Relays = new(side(begin.relays, end.relays, m.peak.relays))
	}
	if m.bench.meters.complete && m.remoteErr == nil {
		m.addBroker(&c, begin, end)
	}
	return c
}

// confirmedBytes returns the payload bytes of confirmed messages, on the assumption that they are as large as all others.
func confirmedBytes(out worker.Outcome) int64 {
	if out.Measured.Sent == 0 {
		return 0
	}
	return int64(float64(out.Measured.Bytes) * float64(out.Measured.Acked) / float64(out.Measured.Sent))
}

// side returns what one process used between two readings.
func side(begin, end provision.Usage, peakBytes int64) store.Side {
	return store.Side{
		UserSeconds: (end.User - begin.User).Seconds(), SystemSeconds: (end.System - begin.System).Seconds(), RSSBytes: peakBytes,
	}
}

// addBroker adds what the broker used. What the kernel does not tell is unknown: -1 in the fields of DiskWriteBytes and
// DataGrowthBytes, and nil in those that are pointers.
func (m *metering) addBroker(c *store.Cost, begin, end reading) {
	c.BrokerKnown = true
	c.BrokerUserSeconds = (end.broker.User - begin.broker.User).Seconds()
	c.BrokerSystemSeconds = (end.broker.System - begin.broker.System).Seconds()
	c.BrokerRSSBytes = m.peak.broker
	c.BrokerDiskWriteBytes, c.BrokerDataGrowthBytes = -1, -1
	if begin.broker.DiskWriteBytes >= 0 && end.broker.DiskWriteBytes >= 0 {
		c.BrokerDiskWriteBytes = end.broker.DiskWriteBytes - begin.broker.DiskWriteBytes
	}
	if m.bench.broker.instance != nil {
		c.BrokerDataGrowthBytes = end.dataBytes - begin.dataBytes
	}
	if begin.broker.DiskReadBytes >= 0 && end.broker.DiskReadBytes >= 0 {
		c.BrokerDiskReadBytes = new(end.broker.DiskReadBytes - begin.broker.DiskReadBytes)
	}
	if begin.flushes >= 0 && end.flushes >= 0 && end.flushGaps == begin.flushGaps {
		c.BrokerFlushes = new(end.flushes - begin.flushes)
	}
}
