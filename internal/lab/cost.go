package lab

import (
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// trialCost is what a trial used, and what else used the machine meanwhile. A trial embeds it.
type trialCost struct {
	Cost   store.Cost
	Window time.Duration // over which the cost was taken: the measured phase and the drain; 0 if nothing was metered

	// For how long, in the measured phase:
	GCPause time.Duration // garbage collections stopped this process
	Queued  time.Duration // threads of this process were ready and waited for a core
	Stolen  time.Duration // the hypervisor ran something else, summed over all cores

	bursts               []burst              // of the whole trial, its warm-up included
	strain               strain               // over the same time as Cost.Shares
	neighbours           provision.Neighbours // likewise
	brokerMayBeNeighbour bool                 // an attached broker whose processes were not found may be one of them
}

// peakMemory is the largest resident memory that was read, in bytes.
type peakMemory struct {
	broker, self, consumers, relays int64
	generator                       int64 // of self and consumers together, at one time
}

func (p *peakMemory) add(r reading) {
	p.broker = max(p.broker, r.broker.RSSBytes)
	p.self = max(p.self, r.self.RSSBytes)
	p.consumers = max(p.consumers, r.consumers.RSSBytes)
	p.relays = max(p.relays, r.relays.RSSBytes)
	p.generator = max(p.generator, r.self.RSSBytes+r.consumers.RSSBytes)
}

// cost returns what was used between two readings of all meters, and the number of messages to divide it by (paidFor): 12 s of the broker's
// processor time for 2,000,000 messages are 6 µs each. Bytes is an estimate unless all were confirmed: each counts with the mean size.
func (m *metering) cost(begin, end fullReading, out worker.Outcome) store.Cost {
	producing := usedBetween(begin.self, end.self, m.peak.self)
	consuming := usedBetween(begin.consumers, end.consumers, m.peak.consumers)
	c := store.Cost{
		GeneratorUserSeconds:   producing.UserSeconds + consuming.UserSeconds,
		GeneratorSystemSeconds: producing.SystemSeconds + consuming.SystemSeconds,
		GeneratorRSSBytes:      m.peak.generator,
		GeneratorGCPauseNs:     int64(end.gc - begin.gc),
		Messages:               m.paidFor(out),
	}
	if sent := out.Measured.Sent; sent > 0 {
		c.Bytes = int64(float64(out.Measured.Bytes) * float64(c.Messages) / float64(sent))
	}
	if m.bench.clients.consumers != nil {
		c.Sides = &store.Sides{Producing: producing, Consuming: consuming}
	}
	if m.bench.clients.relays != nil {
		c.Relays = new(usedBetween(begin.relays, end.relays, m.peak.relays))
	}
	if m.bench.meters.complete && m.remoteErr == nil {
		m.addBroker(&c, begin, end)
	}
	return c
}

// paidFor returns the number of messages to divide a cost by: those of the measured phase that were confirmed. In a closed loop it counts
// every confirmation since the phase began, also of the warm-up's last window: 25,000 where 15,000 follow a window of 10,000.
func (m *metering) paidFor(out worker.Outcome) int64 {
	begin := slices.IndexFunc(out.Samples, func(s worker.Sample) bool { return s.At >= out.From })
	if m.rate > 0 || begin < 0 || begin == len(out.Samples)-1 {
		return out.Measured.Acked
	}
	return max(out.Measured.Acked, out.Samples[len(out.Samples)-1].Count.Acked-out.Samples[begin].Count.Acked)
}

// usedBetween returns what processes used between two readings of their meter, and their largest memory.
func usedBetween(begin, end provision.Usage, peakBytes int64) store.Side {
	return store.Side{
		UserSeconds: (end.User - begin.User).Seconds(), SystemSeconds: (end.System - begin.System).Seconds(), RSSBytes: peakBytes,
	}
}

// addBroker adds what the broker used. The stored form has two words for a value that is not known: −1 in BrokerDiskWriteBytes and
// BrokerDataGrowthBytes, nil in BrokerDiskReadBytes and BrokerFlushes.
func (m *metering) addBroker(c *store.Cost, begin, end fullReading) {
	used := usedBetween(begin.broker.Usage, end.broker.Usage, m.peak.broker)
	c.BrokerKnown = true
	c.BrokerUserSeconds, c.BrokerSystemSeconds, c.BrokerRSSBytes = used.UserSeconds, used.SystemSeconds, used.RSSBytes
	c.BrokerDiskWriteBytes, c.BrokerDataGrowthBytes = -1, -1
	if written, known := grown(begin.broker.DiskWriteBytes, end.broker.DiskWriteBytes); known {
		c.BrokerDiskWriteBytes = written
	}
	if read, known := grown(begin.broker.DiskReadBytes, end.broker.DiskReadBytes); known {
		c.BrokerDiskReadBytes = &read
	}
	if m.bench.broker.instance != nil { // where other brokers keep their data is not known
		c.BrokerDataGrowthBytes = end.dataBytes - begin.dataBytes
	}
	if flushes, known := grown(begin.broker.flushes, end.broker.flushes); known && end.broker.flushGaps == begin.broker.flushGaps {
		c.BrokerFlushes = &flushes
	}
}

// grown returns by how much a counter has grown; known is false if the kernel didn't count, so that it is agent.NotCounted, −1.
func grown(begin, end int64) (by int64, known bool) { return end - begin, begin >= 0 && end >= 0 }
