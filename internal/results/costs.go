package results

import (
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// costMetrics are the resources of the broker, and of the generator as a whole.
var costMetrics = []Metric{
	cpuMetric(KeyBrokerCPU, "broker CPU", brokerUsage).headed("CPU\nbroker"),
	cpuMetric(KeyGeneratorCPU, "generator CPU", generatorUsage).headed("CPU\nclient"),
	memoryMetric(KeyBrokerRSS, "broker memory", brokerUsage).headed("memory\nbroker"),
	{Key: KeyBrokerDiskWrite, Name: "broker disk writes", Unit: unit.Bytes, Better: Lower, measured: brokerDiskWrites},
	{
		Key: "broker_disk_read_bytes", Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, Doc: "from a disk, not from the page cache",
		measured: func(r store.Record) float64 { return orNaN(r.Result.Cost.BrokerDiskReadBytes) },
	},
	{
		Key: KeyBrokerFlushes, Name: "broker flushes", Head: "flushes\nper msg", About: "to disk per message", // 1: each message is flushed separately
		Doc: "calls of fsync, fdatasync and msync", Unit: unit.None, Better: Neither,
		measured: func(r store.Record) float64 {
			return divided(orNaN(r.Result.Cost.BrokerFlushes), r.Result.Cost.Messages)
		},
	},
	coresMetric(KeyBrokerCPUUser, "broker CPU, user, % of a core", brokerUsage, userCores),
	coresMetric(KeyBrokerCPUSystem, "broker CPU, system, % of a core", brokerUsage, systemCores),
}

// sideMetrics are the resources of the generator's producers and consumers, if each had a process of their own, and those of relays.
var sideMetrics = []Metric{
	cpuMetric("producer_cpu_s_per_million", "producing CPU", producerUsage).documented("producers have a process of their own"),
	coresMetric(KeyProducerCPUUser, "producing CPU, user, % of a core", producerUsage, userCores).documented("producers have a process of their own"),
	coresMetric(KeyProducerCPUSystem, "producing CPU, system, % of a core", producerUsage, systemCores).documented("producers have a process of their own"),
	memoryMetric("producer_rss_bytes", "producing memory", producerUsage).documented("producers have a process of their own"),
	cpuMetric("consumer_cpu_s_per_million", "consuming CPU", consumerUsage).documented("consumers have a process of their own"),
	coresMetric(KeyConsumerCPUUser, "consuming CPU, user, % of a core", consumerUsage, userCores).documented("consumers have a process of their own"),
	coresMetric(KeyConsumerCPUSystem, "consuming CPU, system, % of a core", consumerUsage, systemCores).documented("consumers have a process of their own"),
	memoryMetric("consumer_rss_bytes", "consuming memory", consumerUsage).documented("consumers have a process of their own"),
	cpuMetric(KeyRelayCPU, "relaying CPU", relayUsage),
	memoryMetric(KeyRelayRSS, "relaying memory", relayUsage),
}

// CostMetrics are the keys of the metrics by which charts show the cost of a message.
var CostMetrics = []string{KeyBrokerCPU, KeyGeneratorCPU, KeyBrokerDiskPerMessage, KeyBrokerRSS}

// usage is the resource use of the processes of one part of a measurement. A field is nil if it is not known.
type usage struct {
	total *store.Side     // from the measured phase to the end of the drain
	cores *store.SideTick // mean in the measured phase
}

func cpuMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower, isCPU: true,
		measured: func(r store.Record) float64 {
			return known(used(r.Result.Cost).total, func(s *store.Side) float64 { return r.Result.Cost.PerMillion(s.UserSeconds + s.SystemSeconds) })
		},
	}
}

func memoryMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, About: "largest resident set", Unit: unit.Bytes, Better: Lower,
		measured: func(r store.Record) float64 {
			return known(used(r.Result.Cost).total, func(s *store.Side) float64 { return knownIf(s.RSSBytes > 0, float64(s.RSSBytes)) }) // 0: none was read before the processes ended
		},
	}
}

// coresMetric is the mean use of cores in one mode, in percent of a core: 250 means two and a half cores.
func coresMetric(key, name string, used func(store.Cost) usage, cores func(*store.SideTick) float64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.None, Better: Lower, isCPU: true,
		measured: func(r store.Record) float64 { return 100 * known(used(r.Result.Cost).cores, cores) },
	}
}

func userCores(s *store.SideTick) float64   { return s.User }
func systemCores(s *store.SideTick) float64 { return s.System }

func brokerUsage(c store.Cost) (u usage) {
	if !c.BrokerKnown {
		return u
	}
	u.total = &store.Side{UserSeconds: c.BrokerUserSeconds, SystemSeconds: c.BrokerSystemSeconds, RSSBytes: c.BrokerRSSBytes}
	if s := c.Shares; s != nil {
		u.cores = &store.SideTick{User: s.BrokerUser, System: s.BrokerSystem}
	}
	return u
}

func generatorUsage(c store.Cost) usage {
	return usage{total: &store.Side{UserSeconds: c.GeneratorUserSeconds, SystemSeconds: c.GeneratorSystemSeconds, RSSBytes: c.GeneratorRSSBytes}}
}

func producerUsage(c store.Cost) (u usage) {
	if c.Sides != nil {
		u.total = &c.Sides.Producing
	}
	if c.Shares != nil && c.Shares.Sides != nil {
		u.cores = &c.Shares.Sides.Producing
	}
	return u
}

func consumerUsage(c store.Cost) (u usage) {
	if c.Sides != nil {
		u.total = &c.Sides.Consuming
	}
	if c.Shares != nil && c.Shares.Sides != nil {
		u.cores = &c.Shares.Sides.Consuming
	}
	return u
}

func relayUsage(c store.Cost) usage { return usage{total: c.Relays} }

// brokerDiskWrites is in bytes. If the kernel doesn't report the writes of other users' processes, the record has −1.
func brokerDiskWrites(r store.Record) float64 {
	c := r.Result.Cost
	return knownIf(c.BrokerKnown && c.BrokerDiskWriteBytes >= 0, float64(c.BrokerDiskWriteBytes))
}
