package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// costMetrics say what the broker used, and the generator as a whole.
var costMetrics = []Metric{
	cpuMetric(KeyBrokerCPU, "broker CPU", brokerUsage).headed("CPU\nbroker"),
	cpuMetric(KeyGeneratorCPU, "generator CPU", generatorUsage).headed("CPU\nclient"),
	memoryMetric(KeyBrokerRSS, "broker memory", brokerUsage).headed("memory\nbroker"),
	{Key: KeyBrokerDiskWrite, Name: "broker disk writes", Unit: unit.Bytes, Better: Lower, measured: brokerDiskWrites},
	{Key: "broker_disk_read_bytes", Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, Doc: "from a disk, not from the page cache", measured: brokerDiskReads},
	{
		Key: KeyBrokerFlushes, Name: "broker flushes", Head: "flushes\nper msg", About: "to disk per message",
		Doc: "calls of fsync, fdatasync and msync", Unit: unit.None, Better: Neither, measured: brokerFlushesPerMessage,
	},
	userMetric(KeyBrokerCPUUser, "broker CPU, user, % of a core", brokerUsage),
	systemMetric(KeyBrokerCPUSystem, "broker CPU, system, % of a core", brokerUsage),
}

// sideMetrics say what the producers and the consumers of the generator used, if each had a process of their own, and what
// relays used.
var sideMetrics = []Metric{
	cpuMetric("producer_cpu_s_per_million", "producing CPU", producerUsage).documented("producers have a process of their own"),
	userMetric(KeyProducerCPUUser, "producing CPU, user, % of a core", producerUsage).documented("producers have a process of their own"),
	systemMetric(KeyProducerCPUSystem, "producing CPU, system, % of a core", producerUsage).documented("producers have a process of their own"),
	memoryMetric("producer_rss_bytes", "producing memory", producerUsage).documented("producers have a process of their own"),
	cpuMetric("consumer_cpu_s_per_million", "consuming CPU", consumerUsage).documented("consumers have a process of their own"),
	userMetric(KeyConsumerCPUUser, "consuming CPU, user, % of a core", consumerUsage).documented("consumers have a process of their own"),
	systemMetric(KeyConsumerCPUSystem, "consuming CPU, system, % of a core", consumerUsage).documented("consumers have a process of their own"),
	memoryMetric("consumer_rss_bytes", "consuming memory", consumerUsage).documented("consumers have a process of their own"),
	cpuMetric(KeyRelayCPU, "relaying CPU", relayUsage),
	memoryMetric(KeyRelayRSS, "relaying memory", relayUsage),
}

// CostMetrics are the keys of the metrics by which charts show the cost of a message.
var CostMetrics = []string{KeyBrokerCPU, KeyGeneratorCPU, KeyBrokerDiskPerMessage, KeyBrokerRSS}

func cpuMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower, isCPU: true,
		measured: func(r store.Record) float64 { return used(r.Result.Cost).cpuPerMillion },
	}
}

func memoryMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, About: "largest resident set", Unit: unit.Bytes, Better: Lower,
		measured: func(r store.Record) float64 { return used(r.Result.Cost).memory },
	}
}

func userMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.None, Better: Lower, isCPU: true,
		measured: func(r store.Record) float64 { return used(r.Result.Cost).userPercent },
	}
}

func systemMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.None, Better: Lower, isCPU: true,
		measured: func(r store.Record) float64 { return used(r.Result.Cost).systemPercent },
	}
}

// usage is what the processes of one part of a measurement used. Figures that are not known are NaN.
type usage struct {
	cpuPerMillion float64 // processor seconds per million messages, from the measured phase to the end of the drain
	memory        float64 // largest resident set, bytes
	userPercent   float64 // cores busy in user mode in the measured phase: 250 if two and a half were
	systemPercent float64 // likewise in kernel mode
}

// unknownUsage is the usage of processes that were not metered.
func unknownUsage() usage {
	return usage{cpuPerMillion: math.NaN(), memory: math.NaN(), userPercent: math.NaN(), systemPercent: math.NaN()}
}

// setTotal sets what the processes used in all, for the messages of a measurement.
func (u *usage) setTotal(c store.Cost, total store.Side) {
	u.cpuPerMillion = c.PerMillion(total.UserSeconds + total.SystemSeconds)
	if total.RSSBytes > 0 { // 0: none was read before the processes ended
		u.memory = float64(total.RSSBytes)
	}
}

// setCores sets how many cores the processes kept busy in the measured phase.
func (u *usage) setCores(user, system float64) {
	u.userPercent, u.systemPercent = 100*user, 100*system
}

func brokerUsage(c store.Cost) usage {
	u := unknownUsage()
	if !c.BrokerKnown {
		return u
	}
	u.setTotal(c, store.Side{
		UserSeconds: c.BrokerUserSeconds, SystemSeconds: c.BrokerSystemSeconds, RSSBytes: c.BrokerRSSBytes,
	})
	if s := c.Shares; s != nil {
		u.setCores(s.BrokerUser, s.BrokerSystem)
	}
	return u
}

func generatorUsage(c store.Cost) usage {
	u := unknownUsage()
	u.setTotal(c, store.Side{
		UserSeconds: c.GeneratorUserSeconds, SystemSeconds: c.GeneratorSystemSeconds, RSSBytes: c.GeneratorRSSBytes,
	})
	return u
}

func producerUsage(c store.Cost) usage {
	u := unknownUsage()
	if c.Sides != nil {
		u.setTotal(c, c.Sides.Producing)
	}
	if c.Shares != nil && c.Shares.Sides != nil {
		u.setCores(c.Shares.Sides.Producing.User, c.Shares.Sides.Producing.System)
	}
	return u
}

func consumerUsage(c store.Cost) usage {
	u := unknownUsage()
	if c.Sides != nil {
		u.setTotal(c, c.Sides.Consuming)
	}
	if c.Shares != nil && c.Shares.Sides != nil {
		u.setCores(c.Shares.Sides.Consuming.User, c.Shares.Sides.Consuming.System)
	}
	return u
}

func relayUsage(c store.Cost) usage {
	u := unknownUsage()
	if c.Relays != nil {
		u.setTotal(c, *c.Relays)
	}
	return u
}

// brokerDiskWrites is in bytes. The kernel doesn't tell what the processes of other users write: a record has −1 then.
func brokerDiskWrites(r store.Record) float64 {
	c := r.Result.Cost
	if !c.BrokerKnown || c.BrokerDiskWriteBytes < 0 {
		return math.NaN()
	}
	return float64(c.BrokerDiskWriteBytes)
}

func brokerDiskReads(r store.Record) float64 { return orNaN(r.Result.Cost.BrokerDiskReadBytes) }

// brokerFlushesPerMessage is 1 if every message is flushed to disk by itself.
func brokerFlushesPerMessage(r store.Record) float64 {
	return divided(orNaN(r.Result.Cost.BrokerFlushes), r.Result.Cost.Messages)
}

func brokerDiskWritesPerMessage(r store.Record) float64 {
	return divided(brokerDiskWrites(r), r.Result.Cost.Messages)
}
