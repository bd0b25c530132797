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
	{Key: KeyBrokerDiskRead, Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, measured: brokerDiskReads},
	{
		Key: KeyBrokerFlushes, Name: "broker flushes", Head: "flushes\nper msg", About: "to disk per message", Unit: unit.None, Better: Neither,
		measured: brokerFlushesPerMessage,
	},
	userMetric(KeyBrokerCPUUser, "broker CPU, user, % of a core", brokerUsage),
	systemMetric(KeyBrokerCPUSystem, "broker CPU, system, % of a core", brokerUsage),
}

// sideMetrics say what the producers and the consumers of the generator used, if each had a process of their own, and what relays used.
var sideMetrics = []Metric{
	cpuMetric(KeyProducerCPU, "producing CPU", producerUsage),
	userMetric(KeyProducerCPUUser, "producing CPU, user, % of a core", producerUsage),
	systemMetric(KeyProducerCPUSystem, "producing CPU, system, % of a core", producerUsage),
	memoryMetric(KeyProducerRSS, "producing memory", producerUsage),
	cpuMetric(KeyConsumerCPU, "consuming CPU", consumerUsage),
	userMetric(KeyConsumerCPUUser, "consuming CPU, user, % of a core", consumerUsage),
	systemMetric(KeyConsumerCPUSystem, "consuming CPU, system, % of a core", consumerUsage),
	memoryMetric(KeyConsumerRSS, "consuming memory", consumerUsage),
	cpuMetric(KeyRelayCPU, "relaying CPU", relayUsage),
	memoryMetric(KeyRelayRSS, "relaying memory", relayUsage),
}

// CostMetrics are the keys of the metrics by which charts show the cost of a message.
var CostMetrics = []string{KeyBrokerCPU, KeyGeneratorCPU, KeyBrokerDiskPerMessage, KeyBrokerRSS}

func cpuMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower,
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
		Key: key, Name: name, Unit: unit.None, Better: Lower,
		measured: func(r store.Record) float64 { return used(r.Result.Cost).userPercent },
	}
}

func systemMetric(key, name string, used func(store.Cost) usage) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.None, Better: Lower,
		measured: func(r store.Record) float64 { return used(r.Result.Cost).systemPercent },
	}
}

// usage is what the processes of one part of a measurement used. Figures that are not known are NaN.
type usage struct {
	cpuPerMillion float64 // seconds of processor time per million messages, from the start of the measured phase to the end of the drain
	memory        float64 // largest resident set, bytes
	userPercent   float64 // processor time in user mode in the measured phase, in percent of one core: 250 if two and a half were busy
	systemPercent float64 // likewise in kernel mode
}

// usageOf is the usage of processes that used total in all, and kept these cores busy in the measured phase. Either is nil if it is not known.
func usageOf(c store.Cost, total *store.Side, cores *store.SideTick) usage {
	u := usage{cpuPerMillion: math.NaN(), memory: math.NaN(), userPercent: math.NaN(), systemPercent: math.NaN()}
	if total != nil {
		u.cpuPerMillion, u.memory = c.PerMillion(total.UserSeconds+total.SystemSeconds), float64(total.RSSBytes)
	}
	if cores != nil {
		u.userPercent, u.systemPercent = 100*cores.User, 100*cores.System
	}
	return u
}

func brokerUsage(c store.Cost) usage {
	if !c.BrokerKnown {
		return usageOf(c, nil, nil)
	}
	total := store.Side{UserSeconds: c.BrokerUserSeconds, SystemSeconds: c.BrokerSystemSeconds, RSSBytes: c.BrokerRSSBytes}
	if c.Shares == nil {
		return usageOf(c, &total, nil)
	}
	cores := store.SideTick{User: c.Shares.BrokerUser, System: c.Shares.BrokerSystem}
	if c.Shares.Broker > 0 && cores.User+cores.System == 0 { // an older record, which has only the sum of both
		return usageOf(c, &total, nil)
	}
	return usageOf(c, &total, &cores)
}

func generatorUsage(c store.Cost) usage {
	total := store.Side{UserSeconds: c.GeneratorUserSeconds, SystemSeconds: c.GeneratorSystemSeconds, RSSBytes: c.GeneratorRSSBytes}
	return usageOf(c, &total, nil)
}

func producerUsage(c store.Cost) usage {
	var total *store.Side
	var cores *store.SideTick
	if c.Sides != nil {
		total = &c.Sides.Producing
	}
	if c.Shares != nil && c.Shares.Sides != nil {
		cores = &c.Shares.Sides.Producing
	}
	return usageOf(c, total, cores)
}

func consumerUsage(c store.Cost) usage {
	var total *store.Side
	var cores *store.SideTick
	if c.Sides != nil {
		total = &c.Sides.Consuming
	}
	if c.Shares != nil && c.Shares.Sides != nil {
		cores = &c.Shares.Sides.Consuming
	}
	return usageOf(c, total, cores)
}

func relayUsage(c store.Cost) usage { return usageOf(c, c.Relays, nil) }

// brokerDiskWrites is in bytes. The kernel doesn't tell what the processes of other users write: a record has −1 then.
func brokerDiskWrites(r store.Record) float64 {
	if c := r.Result.Cost; c.BrokerKnown && c.BrokerDiskWriteBytes >= 0 {
		return float64(c.BrokerDiskWriteBytes)
	}
	return math.NaN()
}

func brokerDiskReads(r store.Record) float64 { return orNaN(r.Result.Cost.BrokerDiskReadBytes) }

// brokerFlushesPerMessage is 1 if every message is flushed to disk by itself.
func brokerFlushesPerMessage(r store.Record) float64 {
	return divided(orNaN(r.Result.Cost.BrokerFlushes), r.Result.Cost.Messages)
}

func brokerDiskWritesPerMessage(r store.Record) float64 {
	return divided(brokerDiskWrites(r), r.Result.Cost.Messages)
}
