package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// costMetrics say what the broker used, and the generator as a whole.
var costMetrics = []Metric{
	brokerProcesses.cpuTime(KeyBrokerCPU, "broker CPU").headed("CPU\nbroker"),
	generatorProcesses.cpuTime(KeyGeneratorCPU, "generator CPU").headed("CPU\nclient"),
	brokerProcesses.memory(KeyBrokerRSS, "broker memory").headed("memory\nbroker"),
	{Key: KeyBrokerDiskWrite, Name: "broker disk writes", Unit: unit.Bytes, Better: Lower, measured: brokerDiskWrites},
	{Key: KeyBrokerDiskRead, Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, measured: brokerDiskReads},
	{
		Key: KeyBrokerFlushes, Name: "broker flushes", Head: "flushes\nper msg", About: "to disk per message", Unit: unit.None, Better: Neither,
		measured: brokerFlushesPerMessage,
	},
	brokerProcesses.percentOfCore(KeyBrokerCPUUser, "broker CPU, user, % of a core", inUserMode),
	brokerProcesses.percentOfCore(KeyBrokerCPUSystem, "broker CPU, system, % of a core", inTheKernel),
}

// sideMetrics say what the two sides of the generator used, its producers and its consumers, and the relays. The sides are known apart only
// if the consumers had a process of their own (consumersApart).
var sideMetrics = []Metric{
	producerProcess.cpuTime(KeyProducerCPU, "producing CPU"),
	producerProcess.percentOfCore(KeyProducerCPUUser, "producing CPU, user, % of a core", inUserMode),
	producerProcess.percentOfCore(KeyProducerCPUSystem, "producing CPU, system, % of a core", inTheKernel),
	producerProcess.memory(KeyProducerRSS, "producing memory"),
	consumerProcess.cpuTime(KeyConsumerCPU, "consuming CPU"),
	consumerProcess.percentOfCore(KeyConsumerCPUUser, "consuming CPU, user, % of a core", inUserMode),
	consumerProcess.percentOfCore(KeyConsumerCPUSystem, "consuming CPU, system, % of a core", inTheKernel),
	consumerProcess.memory(KeyConsumerRSS, "consuming memory"),
	relayProcesses.cpuTime(KeyRelayCPU, "relaying CPU"),
	relayProcesses.memory(KeyRelayRSS, "relaying memory"),
}

// CostMetrics are the keys of the metrics by which charts show the cost of a message.
var CostMetrics = []string{KeyBrokerCPU, KeyGeneratorCPU, KeyBrokerDiskPerMessage, KeyBrokerRSS}

// processes reads from a record what the processes of one part of a measurement used: the broker, the generator, one of its sides, or the
// relays. Its functions return nil if that is not known.
type processes struct {
	used func(store.Cost) *store.Side     // in all, from the start of the measured phase to the end of the drain
	busy func(store.Cost) *store.SideTick // mean number of cores in the measured phase; unset for parts without percentOfCore
}

var (
	brokerProcesses    = processes{used: brokerUsed, busy: brokerBusy}
	generatorProcesses = processes{used: func(c store.Cost) *store.Side {
		return &store.Side{UserSeconds: c.GeneratorUserSeconds, SystemSeconds: c.GeneratorSystemSeconds, RSSBytes: c.GeneratorRSSBytes}
	}}
	producerProcess = processes{used: producerUsed, busy: producerBusy}
	consumerProcess = processes{used: consumerUsed, busy: consumerBusy}
	relayProcesses  = processes{used: func(c store.Cost) *store.Side { return c.Relays }}
)

func brokerUsed(c store.Cost) *store.Side {
	if !c.BrokerKnown {
		return nil
	}
	return &store.Side{UserSeconds: c.BrokerUserSeconds, SystemSeconds: c.BrokerSystemSeconds, RSSBytes: c.BrokerRSSBytes}
}

func brokerBusy(c store.Cost) *store.SideTick {
	s := c.Shares
	if s == nil || !c.BrokerKnown {
		return nil
	}
	if s.Broker > 0 && s.BrokerUser == 0 && s.BrokerSystem == 0 { // older records have only the sum of user and system time
		return nil
	}
	return &store.SideTick{User: s.BrokerUser, System: s.BrokerSystem}
}

func producerUsed(c store.Cost) *store.Side {
	if c.Sides == nil {
		return nil
	}
	return &c.Sides.Producing
}

func producerBusy(c store.Cost) *store.SideTick {
	if c.Shares == nil || c.Shares.Sides == nil {
		return nil
	}
	return &c.Shares.Sides.Producing
}

func consumerUsed(c store.Cost) *store.Side {
	if c.Sides == nil {
		return nil
	}
	return &c.Sides.Consuming
}

func consumerBusy(c store.Cost) *store.SideTick {
	if c.Shares == nil || c.Shares.Sides == nil {
		return nil
	}
	return &c.Shares.Sides.Consuming
}

// cpuTime is the processor time of processes per million messages.
func (p processes) cpuTime(key, name string) Metric {
	return Metric{
		Key: key, Name: name, About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower,
		measured: func(r store.Record) float64 {
			cost := r.Result.Cost
			return figureOrNaN(p.used(cost), func(s *store.Side) float64 { return cost.PerMillion(s.UserSeconds + s.SystemSeconds) })
		},
	}
}

// memory is the largest resident set of processes.
func (p processes) memory(key, name string) Metric {
	return Metric{
		Key: key, Name: name, About: "largest resident set", Unit: unit.Bytes, Better: Lower,
		measured: func(r store.Record) float64 {
			return figureOrNaN(p.used(r.Result.Cost), func(s *store.Side) float64 { return float64(s.RSSBytes) })
		},
	}
}

// percentOfCore is the time of processes in the measured phase, in percent of one core: 250 if they kept two and a half busy.
func (p processes) percentOfCore(key, name string, cores func(*store.SideTick) float64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.None, Better: Lower,
		measured: func(r store.Record) float64 { return 100 * figureOrNaN(p.busy(r.Result.Cost), cores) },
	}
}

func inUserMode(s *store.SideTick) float64  { return s.User }
func inTheKernel(s *store.SideTick) float64 { return s.System }

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
