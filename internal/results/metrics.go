package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Metrics lists every figure of a record: the one place that says what a figure is called, in which unit it is, and how it is read
// from the record. Everything else names its key.
var Metrics = publishedToo(append([]Metric{
	{Key: KeyOfferedRate, Name: "offered", Unit: unit.PerSecond, Better: Neither, Of: fromResult(offeredRate)},
	scheduled(KeyDue, "due", Neither, func(b store.Books) int64 { return b.Due }),
	scheduled(KeyUnsent, "never sent", Lower, func(b store.Books) int64 { return b.Unsent }).headed("never\nsent"),
	counted(KeySent, "sent", Neither, func(b store.Books) int64 { return b.Sent }),
	counted(KeyAcked, "acked", Neither, func(b store.Books) int64 { return b.Acked }),
	counted(KeyFailed, "failed", Lower, func(b store.Books) int64 { return b.Failed }),
	counted(KeyUnresolved, "unresolved", Lower, func(b store.Books) int64 { return b.Unresolved }).headed("unres."),
	counted(KeyResent, "resent", Lower, func(b store.Books) int64 { return b.Resent }),
	counted(KeyReceived, "received", Neither, func(b store.Books) int64 { return b.Received }),
	counted(KeyLost, "lost", Lower, func(b store.Books) int64 { return b.Lost }),
	counted(KeyLostAcked, "lost after ack", Lower, func(b store.Books) int64 { return b.LostAcked }).headed("lost\nafter ack"),
	counted(KeyDuplicated, "duplicated", Lower, func(b store.Books) int64 { return b.Duplicated }).headed("dup."),
	counted(KeyReordered, "reordered", Lower, func(b store.Books) int64 { return b.Reordered }).headed("reord."),
	counted(KeyCorrupted, "corrupted", Lower, func(b store.Books) int64 { return b.Corrupted }).headed("corr."),
	{Key: KeyPublishRate, Name: "published", Unit: unit.PerSecond, Better: Higher, Of: fromResult(publishRate)},
	{Key: KeyReceiveRate, Name: "received", Unit: unit.PerSecond, Better: Higher, Of: fromResult(receiveRate)},
	{Key: KeyThroughput, Name: "throughput", Unit: unit.PerSecond, Better: Higher, Of: throughput},
	{Key: KeyPublishMB, Name: "published MB/s", Unit: unit.None, Better: Higher, Of: fromResult(megabytes(publishRate))},
	{Key: KeyReceiveMB, Name: "received MB/s", Unit: unit.None, Better: Higher, Of: fromResult(megabytes(receiveRate))},
	{Key: KeyProducerRate, Name: "per producer", Unit: unit.PerSecond, Better: Higher, Of: producerRate},
	{Key: KeyConsumerRate, Name: "per consumer", Unit: unit.PerSecond, Better: Higher, Of: consumerRate},
	{Key: KeyLargestBacklog, Name: "largest backlog", Unit: unit.None, Better: Lower, Of: fromResult(ifStored(func(r *store.Result) *int64 { return r.BacklogMax }))},
	{Key: KeySustainableLow, Name: "sustainable", Unit: unit.PerSecond, Better: Higher, Of: fromResult(sustainableLow)},
	{Key: KeySustainableHigh, Name: "sustainable, failing", Unit: unit.PerSecond, Better: Higher, Of: fromResult(sustainableHigh)},
	{Key: KeyKneeRate, Name: "before the knee", Unit: unit.PerSecond, Better: Higher, Of: fromResult(kneeRate)},
	latencyMetric(KeyEndToEndMin, "e2e min", "e2e", 0),
	meanMetric(KeyEndToEndMean, "e2e mean", "e2e"),
	latencyMetric(KeyEndToEndP50, "e2e p50", "e2e", 0.5),
	latencyMetric(KeyEndToEndP90, "e2e p90", "e2e", 0.9),
	latencyMetric(KeyEndToEndP95, "e2e p95", "e2e", 0.95),
	latencyMetric(KeyEndToEndP99, "e2e p99", "e2e", 0.99),
	latencyMetric(KeyEndToEndP999, "e2e p99.9", "e2e", 0.999),
	latencyMetric(KeyEndToEndMax, "e2e max", "e2e", 1),
	latencyMetric(KeyPublishMin, "publish min", "publish", 0),
	meanMetric(KeyPublishMean, "publish mean", "publish"),
	latencyMetric(KeyPublishP50, "publish p50", "publish", 0.5),
	latencyMetric(KeyPublishP95, "publish p95", "publish", 0.95),
	latencyMetric(KeyPublishP99, "publish p99", "publish", 0.99),
	latencyMetric(KeyPublishMax, "publish max", "publish", 1),
	meanMetric(KeyServiceMean, "service mean", "service"),
	latencyMetric(KeyServiceP50, "service p50", "service", 0.5),
	latencyMetric(KeyServiceP99, "service p99", "service", 0.99),
	latencyMetric(KeyEndToEndServiceMin, "e2e from send, min", "e2e_service", 0),
	meanMetric(KeyEndToEndServiceMean, "e2e from send, mean", "e2e_service"),
	latencyMetric(KeyEndToEndServiceP50, "e2e from send, p50", "e2e_service", 0.5),
	latencyMetric(KeyEndToEndServiceP95, "e2e from send, p95", "e2e_service", 0.95),
	latencyMetric(KeyEndToEndServiceP99, "e2e from send, p99", "e2e_service", 0.99),
	latencyMetric(KeyEndToEndServiceMax, "e2e from send, max", "e2e_service", 1),
	latency(KeyMeanOfSeconds, "mean of one-second means", meanOfSeconds).acrossClocks(),
	latency(KeyCorrectedMean, "corrected mean", corrected(func(c *store.Corrected) float64 { return c.MeanNs })).acrossClocks(),
	latency(KeyCorrectedP99, "corrected p99", corrected(func(c *store.Corrected) float64 { return float64(c.P99Ns) })).acrossClocks(),
	latencyMetric(KeyLagP99, "lag p99", "lag", 0.99),
	{Key: KeyPauseP99, Name: "own pauses p99", Head: "own pauses\np99", Unit: unit.Nanoseconds, Better: Lower, Of: fromPauses(func(p *store.Pauses) float64 { return Quantile(p.Late, 0.99) })},
	{Key: KeyPauseMax, Name: "own pauses max", Head: "own pauses\nmax", Unit: unit.Nanoseconds, Better: Lower, Of: fromPauses(func(p *store.Pauses) float64 { return float64(p.LongestNs) })},
	{Key: KeyBrokerCPU, Name: "broker CPU", Head: "CPU\nbroker", About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower, Of: fromResult(func(r *store.Result) float64 { return BrokerCPU(r.Cost) })},
	{Key: KeyGeneratorCPU, Name: "generator CPU", Head: "CPU\nclient", About: "seconds per million messages", Unit: unit.CPUSeconds, Better: Lower, Of: fromResult(func(r *store.Result) float64 { return GeneratorCPU(r.Cost) })},
	{Key: KeyBrokerRSS, Name: "broker memory", Head: "memory\nbroker", About: "largest resident set", Unit: unit.Bytes, Better: Lower, Of: fromCost(func(c store.Cost) int64 { return c.BrokerRSSBytes })},
	{Key: KeyBrokerDiskWrite, Name: "broker disk writes", Unit: unit.Bytes, Better: Lower, Of: fromCost(func(c store.Cost) int64 { return c.BrokerDiskWriteBytes })},
	{Key: KeyBrokerDiskRead, Name: "broker disk reads", Unit: unit.Bytes, Better: Lower, Of: fromResult(ifStored(func(r *store.Result) *int64 { return r.Cost.BrokerDiskReadBytes }))},
	{Key: KeyBrokerFlushes, Name: "broker flushes", Head: "flushes\nper msg", About: "to disk per message", Unit: unit.None, Better: Neither, Of: fromResult(flushesPerMessage)},
	{Key: KeyBrokerCPUUser, Name: "broker CPU, user, % of a core", Unit: unit.None, Better: Lower, Of: brokerPercent(func(s *store.Shares) float64 { return s.BrokerUser })},
	{Key: KeyBrokerCPUSystem, Name: "broker CPU, system, % of a core", Unit: unit.None, Better: Lower, Of: brokerPercent(func(s *store.Shares) float64 { return s.BrokerSystem })},
	{Key: KeyTotalSeconds, Name: "total time", Head: "total\ntime", Unit: unit.Seconds, Better: Lower, Of: fromResult(totalSeconds)},
	{Key: KeyDrainRate, Name: "drained", Unit: unit.PerSecond, Better: Higher, Of: fromResult(drainRate)},
}, append(sideMetrics, pipelineMetrics...)...))

// views are figures that only some reports show. Exports and thresholds don't have them.
var views = []Metric{
	counted(KeyExpected, "expected", Neither, func(b store.Books) int64 { return b.Expected }),
	{
		Key: KeyBrokerDiskPerMessage, Name: "written", About: "to disk per message", Unit: unit.Bytes, Better: Lower,
		Of: fromResult(func(r *store.Result) float64 {
			if c := r.Cost; c.BrokerKnown && c.Messages != 0 && c.BrokerDiskWriteBytes >= 0 {
				return float64(c.BrokerDiskWriteBytes) / float64(c.Messages)
			}
			return math.NaN()
		}),
	},
}

// headed is m with a shorter name over its column.
func (m Metric) headed(head string) Metric {
	m.Head = head
	return m
}

// BrokerCPU is CPU-seconds of the broker's processes per million messages; NaN if they were not metered, or without messages.
func BrokerCPU(c store.Cost) float64 {
	if !c.BrokerKnown || c.Messages == 0 {
		return math.NaN()
	}
	return c.PerMillion(c.BrokerUserSeconds + c.BrokerSystemSeconds)
}

// GeneratorCPU is CPU-seconds of the load generator per million messages; NaN without messages.
func GeneratorCPU(c store.Cost) float64 {
	if c.Messages == 0 {
		return math.NaN()
	}
	return c.PerMillion(c.GeneratorUserSeconds + c.GeneratorSystemSeconds)
}

func fromResult(of func(*store.Result) float64) func(store.Record) float64 {
	return func(r store.Record) float64 {
		if r.Result == nil {
			return math.NaN()
		}
		return of(r.Result)
	}
}

// counted counts messages. It is unknown if the record has no books, as results of other tools: then a loss is unknown, and not 0.
func counted(key, name string, better Better, count func(store.Books) int64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.Count, Better: better,
		Of: fromResult(func(r *store.Result) float64 {
			if r.Books == (store.Books{}) {
				return math.NaN()
			}
			return float64(count(r.Books))
		}),
		Books: count,
	}
}

// scheduled counts messages that were due. It is unknown in older records, which have no such counts.
func scheduled(key, name string, better Better, count func(store.Books) int64) Metric {
	m := counted(key, name, better, count)
	m.Of = fromResult(func(r *store.Result) float64 {
		if r.Books.Due == 0 {
			return math.NaN()
		}
		return float64(count(r.Books))
	})
	return m
}

// fromPauses is unknown in older records, which have no pauses.
func fromPauses(of func(*store.Pauses) float64) func(store.Record) float64 {
	return fromResult(func(r *store.Result) float64 {
		if r.Pauses == nil {
			return math.NaN()
		}
		return of(r.Pauses)
	})
}

// offeredRate is unknown if there was no schedule.
func offeredRate(r *store.Result) float64 {
	if r.OfferedRate <= 0 {
		return math.NaN()
	}
	return r.OfferedRate
}

// fromCost is unknown if the broker's processes were not metered, or if the record has −1: the kernel did not report it.
func fromCost(of func(store.Cost) int64) func(store.Record) float64 {
	return fromResult(func(r *store.Result) float64 {
		if !r.Cost.BrokerKnown || of(r.Cost) < 0 {
			return math.NaN()
		}
		return float64(of(r.Cost))
	})
}

// Quantile is NaN for an empty histogram, unlike the histogram's own.
func Quantile(s hist.Snapshot, q float64) float64 {
	if s.Count() == 0 {
		return math.NaN()
	}
	return float64(s.Quantile(q))
}

func sustainableLow(r *store.Result) float64 {
	if r.Sustainable == nil {
		return math.NaN()
	}
	if r.Sustainable.Low == 0 && r.Sustainable.High == 0 {
		return math.NaN() // every trial was void
	}
	return r.Sustainable.Low // 0 is a finding: no rate passed
}

func sustainableHigh(r *store.Result) float64 {
	if r.Sustainable == nil || r.Sustainable.High == 0 {
		return math.NaN()
	}
	return r.Sustainable.High
}

func totalSeconds(r *store.Result) float64 {
	if r.Count == nil {
		return math.NaN()
	}
	return r.Count.TotalSeconds
}

func drainRate(r *store.Result) float64 {
	if r.Backlog == nil {
		return math.NaN()
	}
	return r.Backlog.DrainRate
}
