package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// costMetrics say what the broker used, and the generator as a whole.
var costMetrics = []Metric{
	cpuTime(KeyBrokerCPU, "broker CPU", broker).headed("CPU\nbroker"),
	cpuTime(KeyGeneratorCPU, "generator CPU", generator).headed("CPU\nclient"),
	memory(KeyBrokerRSS, "broker memory", broker).headed("memory\nbroker"),
	{Key: KeyBrokerDiskWrite, Name: "broker disk writes", Unit: unit.Bytes, Better: Lower, measured: brokerDiskWrites},
	{Key: KeyBrokerDiskRead, Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, measured: brokerDiskReads},
	brokerFlushes,
	userPercent(KeyBrokerCPUUser, "broker CPU", brokerCores),
	systemPercent(KeyBrokerCPUSystem, "broker CPU", brokerCores),
}

// sideMetrics say what the two sides of the generator used, if its consumers had a process of their own (consumersApart), and the relays.
var sideMetrics = []Metric{
	cpuTime(KeyProducerCPU, "producing CPU", producing),
	userPercent(KeyProducerCPUUser, "producing CPU", producingCores),
	systemPercent(KeyProducerCPUSystem, "producing CPU", producingCores),
	memory(KeyProducerRSS, "producing memory", producing),
	cpuTime(KeyConsumerCPU, "consuming CPU", consuming),
	userPercent(KeyConsumerCPUUser, "consuming CPU", consumingCores),
	systemPercent(KeyConsumerCPUSystem, "consuming CPU", consumingCores),
	memory(KeyConsumerRSS, "consuming memory", consuming),
	cpuTime(KeyRelayCPU, "relaying CPU", relaying),
	memory(KeyRelayRSS, "relaying memory", relaying),
}

// CostMetrics are the keys of the metrics by which charts show the cost of a message.
var CostMetrics = []string{KeyBrokerCPU, KeyGeneratorCPU, KeyBrokerDiskPerMessage, KeyBrokerRSS}

// brokerFlushes is 1 if every message is flushed to disk by itself.
var brokerFlushes = Metric{
	Key: KeyBrokerFlushes, Name: "broker flushes", Head: "flushes\nper msg", About: "to disk per message", Unit: unit.None, Better: Neither,
	measured: func(r store.Record) float64 {
		return divided(orNaN(r.Result.Cost.BrokerFlushes), r.Result.Cost.Messages)
	},
}

// writtenPerMessage is one of views.
var writtenPerMessage = Metric{
	Key: KeyBrokerDiskPerMessage, Name: "written", About: "to disk per message", Unit: unit.Bytes, Better: Lower,
	measured: func(r store.Record) float64 { return divided(brokerDiskWrites(r), r.Result.Cost.Messages) },
}

// cpuTime is the processor time of processes per million messages.
func cpuTime(key, name string, processes func(store.Cost) *store.Side) Metric {
	return Metric{
		Key: key, Name: name, About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower,
		measured: func(r store.Record) float64 {
			cost := r.Result.Cost
			return figureOrNaN(processes(cost), func(used *store.Side) float64 { return cost.PerMillion(used.UserSeconds + used.SystemSeconds) })
		},
	}
}

// memory is the largest memory of processes.
func memory(key, name string, processes func(store.Cost) *store.Side) Metric {
	return Metric{
		Key: key, Name: name, About: "largest resident set", Unit: unit.Bytes, Better: Lower,
		measured: func(r store.Record) float64 {
			return figureOrNaN(processes(r.Result.Cost), func(used *store.Side) float64 { return float64(used.RSSBytes) })
		},
	}
}

// These pick what some processes used from the start of the measured phase to the end of the drain; nil if it is not known.

func broker(c store.Cost) *store.Side {
	if !c.BrokerKnown {
		return nil
	}
	return &store.Side{UserSeconds: c.BrokerUserSeconds, SystemSeconds: c.BrokerSystemSeconds, RSSBytes: c.BrokerRSSBytes}
}

func generator(c store.Cost) *store.Side {
	return &store.Side{UserSeconds: c.GeneratorUserSeconds, SystemSeconds: c.GeneratorSystemSeconds, RSSBytes: c.GeneratorRSSBytes}
}

func producing(c store.Cost) *store.Side {
	if c.Sides == nil {
		return nil
	}
	return &c.Sides.Producing
}

func consuming(c store.Cost) *store.Side {
	if c.Sides == nil {
		return nil
	}
	return &c.Sides.Consuming
}

func relaying(c store.Cost) *store.Side { return c.Relays }

// userPercent is the processor time of processes in user mode, in percent of one core.
func userPercent(key, name string, cores func(store.Cost) *store.SideTick) Metric {
	return corePercent(key, name+", user, % of a core", cores, func(busy *store.SideTick) float64 { return busy.User })
}

// systemPercent is the processor time of processes in the kernel, in percent of one core.
func systemPercent(key, name string, cores func(store.Cost) *store.SideTick) Metric {
	return corePercent(key, name+", system, % of a core", cores, func(busy *store.SideTick) float64 { return busy.System })
}

func corePercent(key, name string, cores func(store.Cost) *store.SideTick, part func(*store.SideTick) float64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.None, Better: Lower,
		measured: func(r store.Record) float64 {
			return 100 * figureOrNaN(cores(r.Result.Cost), part)
		},
	}
}

// These pick how many cores some processes kept busy in the measured phase, on average; nil if it is not known.

func brokerCores(c store.Cost) *store.SideTick {
	s := c.Shares
	if s == nil || !c.BrokerKnown || s.Broker > 0 && s.BrokerUser == 0 && s.BrokerSystem == 0 { // older records have only the sum
		return nil
	}
	return &store.SideTick{User: s.BrokerUser, System: s.BrokerSystem}
}

func producingCores(c store.Cost) *store.SideTick {
	if c.Shares == nil || c.Shares.Sides == nil {
		return nil
	}
	return &c.Shares.Sides.Producing
}

func consumingCores(c store.Cost) *store.SideTick {
	if c.Shares == nil || c.Shares.Sides == nil {
		return nil
	}
	return &c.Shares.Sides.Consuming
}

// brokerDiskWrites is in bytes. The kernel doesn't tell what the processes of other users write: a record has −1 then.
func brokerDiskWrites(r store.Record) float64 {
	if c := r.Result.Cost; c.BrokerKnown && c.BrokerDiskWriteBytes >= 0 {
		return float64(c.BrokerDiskWriteBytes)
	}
	return math.NaN()
}

func brokerDiskReads(r store.Record) float64 { return orNaN(r.Result.Cost.BrokerDiskReadBytes) }
