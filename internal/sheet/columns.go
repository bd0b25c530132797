package sheet

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// line is a row of an experiment: one point at one load, over its repetitions.
type line struct {
	results.LoadPoint
	status string // of the load point or, if nothing was measured, of the point
	// distributions are the latencies of all repetitions together, by their kind's name. It is nil if nothing was measured.
	distributions map[string]results.Distribution
}

// column is a column of an experiment.
type column struct {
	name   string
	unit   string           // stands in parentheses behind the name; may be empty
	format string           // of its numbers; empty for words
	width  float64          // in letters
	of     func(l line) any // a string or a number; nil if it is not known
}

// The formats of numbers, by their smallest digit.
const (
	ones    = "#,##0"
	tenths  = "#,##0.0"
	thirds  = "#,##0.000"
	percent = "0.0"
	general = "General" // numbers of an axis, aligned like words
)

// figureColumns are those of the first study under its names (msg/s, min, avg, 95th, 99th, disk MB, cpu %usr, cpu %sys),
// with further columns beside them.
var figureColumns = []column{
	{"msg/s", "confirmed per second", ones, 11, metric(results.KeyPublishRate)},
	{"received/s", "all subscriptions", ones, 11, metric(results.KeyReceiveRate)},
	{"sustainable", "msg/s, passing", ones, 12, whole(results.KeySustainableLow)},
	{"fails at", "msg/s", ones, 11, whole(results.KeySustainableHigh)},
	{"before the knee", "msg/s", ones, 13, whole(results.KeyKneeRate)},
	{"MB/s", "10^6 B confirmed per second", thirds, 11, metric(results.KeyPublishMB)},
	{"received MB/s", "10^6 B, all subscriptions", thirds, 13, metric(results.KeyReceiveMB)},
	{"per producer", "msg/s", ones, 12, metric(results.KeyProducerRate)},
	{"per consumer", "msg/s", ones, 12, metric(results.KeyConsumerRate)},
	{"min", "ms", thirds, 10, merged(results.KeyEndToEndMin)},
	{"avg", "ms", thirds, 10, merged(results.KeyEndToEndMean)},
	{"50th", "ms", thirds, 10, merged(results.KeyEndToEndP50)},
	{"95th", "ms", thirds, 10, merged(results.KeyEndToEndP95)},
	{"99th", "ms", thirds, 10, merged(results.KeyEndToEndP99)},
	{"99.9th", "ms", thirds, 10, merged(results.KeyEndToEndP999)},
	{"max", "ms", thirds, 10, merged(results.KeyEndToEndMax)},
	{"publish min", "ms", thirds, 10, merged(results.KeyPublishMin)},
	{"publish avg", "ms", thirds, 10, merged(results.KeyPublishMean)},
	{"publish 50th", "ms", thirds, 11, merged(results.KeyPublishP50)},
	{"publish 95th", "ms", thirds, 11, merged(results.KeyPublishP95)},
	{"publish 99th", "ms", thirds, 11, merged(results.KeyPublishP99)},
	{"publish max", "ms", thirds, 11, merged(results.KeyPublishMax)},
	{"from send avg", "ms, end to end", thirds, 13, merged(results.KeyEndToEndServiceMean)},
	{"from send 99th", "ms, end to end", thirds, 13, merged(results.KeyEndToEndServiceP99)},
	{"avg of seconds", "ms, from send", thirds, 13, metric(results.KeyMeanOfSeconds)},
	{"corrected avg", "ms, from send", thirds, 13, metric(results.KeyCorrectedMean)},
	{"corrected 99th", "ms, from send", thirds, 13, metric(results.KeyCorrectedP99)},
	{"disk MB", "written, 10^6 B", tenths, 11, metric(results.KeyBrokerDiskWrite)},
	{"disk read MB", "read, 10^6 B", tenths, 12, metric(results.KeyBrokerDiskRead)},
	{"flushes", "per message", thirds, 11, metric(results.KeyBrokerFlushes)},
	{"cpu %usr", "broker, % of all cores", percent, 11, median(brokerUser)},
	{"cpu %sys", "broker, % of all cores", percent, 11, median(brokerSystem)},
	{"core %usr", "broker, % of one core", percent, 11, metric(results.KeyBrokerCPUUser)},
	{"core %sys", "broker, % of one core", percent, 11, metric(results.KeyBrokerCPUSystem)},
	{"generator cpu %", "% of all cores", percent, 11, median(generatorShare)},
	{"producing %usr", "of one core", percent, 14, metric(results.KeyProducerCPUUser)},
	{"producing %sys", "of one core", percent, 14, metric(results.KeyProducerCPUSystem)},
	{"producing MB", "memory, 10^6 B", tenths, 13, metric(results.KeyProducerRSS)},
	{"consuming %usr", "of one core", percent, 14, metric(results.KeyConsumerCPUUser)},
	{"consuming %sys", "of one core", percent, 14, metric(results.KeyConsumerCPUSystem)},
	{"consuming MB", "memory, 10^6 B", tenths, 13, metric(results.KeyConsumerRSS)},
	{"relaying CPU", "s per million", thirds, 12, metric(results.KeyRelayCPU)},
	{"relaying MB", "memory, 10^6 B", tenths, 13, metric(results.KeyRelayRSS)},
	{"broker CPU", "s per million", thirds, 12, metric(results.KeyBrokerCPU)},
	{"memory MB", "broker, 10^6 B", tenths, 11, metric(results.KeyBrokerRSS)},
	{"total s", "", thirds, 10, whole(results.KeyTotalSeconds)},
	{"drained/s", "", ones, 11, whole(results.KeyDrainRate)},
	{"largest backlog", "messages", ones, 13, metric(results.KeyLargestBacklog)},
	{"due", "all repetitions", ones, 11, total(results.KeyDue)},
	{"never sent", "all repetitions", ones, 11, total(results.KeyUnsent)},
	{"failed", "all repetitions", ones, 9, total(results.KeyFailed)},
	{"unresolved", "all repetitions", ones, 11, total(results.KeyUnresolved)},
	{"resent", "all repetitions", ones, 9, total(results.KeyResent)},
	{"lost", "all repetitions", ones, 9, total(results.KeyLost)},
	{"lost after ack", "all repetitions", ones, 13, total(results.KeyLostAcked)},
	{"duplicated", "all repetitions", ones, 10, total(results.KeyDuplicated)},
	{"reordered", "all repetitions", ones, 10, total(results.KeyReordered)},
	{"corrupted", "all repetitions", ones, 10, total(results.KeyCorrupted)},
	{"own pauses 99th", "ms", thirds, 14, worst(results.KeyPauseP99)},
	{"own pauses max", "ms", thirds, 14, worst(results.KeyPauseMax)},
	{"at", "s, in the run of the longest", thirds, 10, longestAt},
	{"own GC pauses", "ms", thirds, 13, paused(func(p *store.Pauses) float64 { return float64(p.GCPauseNs) / 1e6 })},
	{"stolen", "s, by the hypervisor", thirds, 10, paused(func(p *store.Pauses) float64 { return p.StolenSeconds })},
	{"waited for a core", "s, threads of the generator", thirds, 15, paused(func(p *store.Pauses) float64 { return p.QueuedSeconds })},
}

// figureIndex is the place of a column among figureColumns. It panics if there is none: a chart would show another column.
func figureIndex(name string) int {
	i := slices.IndexFunc(figureColumns, func(c column) bool { return c.name == name })
	if i < 0 {
		panic("sheet: no figure column " + name)
	}
	return i
}

// metered is v if the broker's processes were metered, else NaN.
func metered(r store.Record, v float64) float64 {
	if !r.Result.Cost.BrokerKnown {
		return math.NaN()
	}
	return v
}

// brokerUser is the broker's user time as a percentage of all cores.
func brokerUser(r store.Record) float64 {
	if s := r.Result.Cost.Shares; s != nil && s.BrokerUser+s.BrokerSystem > 0 {
		return metered(r, ofCores(r, s.BrokerUser))
	}
	return brokerShare(r, r.Result.Cost.BrokerUserSeconds)
}

// brokerSystem is the broker's time in the kernel as a percentage of all cores.
func brokerSystem(r store.Record) float64 {
	if s := r.Result.Cost.Shares; s != nil && s.BrokerUser+s.BrokerSystem > 0 {
		return metered(r, ofCores(r, s.BrokerSystem))
	}
	return brokerShare(r, r.Result.Cost.BrokerSystemSeconds)
}

// brokerShare is seconds of the broker, user or system, as a percentage of all cores, for records whose shares don't divide the
// measured phase into the two: it is divided as the whole cost is, drain included.
func brokerShare(r store.Record, seconds float64) float64 {
	all := r.Result.Cost.BrokerUserSeconds + r.Result.Cost.BrokerSystemSeconds
	if r.Result.Cost.Shares == nil || all == 0 {
		return metered(r, share(r, seconds))
	}
	return metered(r, ofCores(r, r.Result.Cost.Shares.Broker*seconds/all))
}

// generatorShare is the generator's processor time as a percentage of all cores.
func generatorShare(r store.Record) float64 {
	if r.Result.Cost.Shares == nil {
		return share(r, r.Result.Cost.GeneratorUserSeconds+r.Result.Cost.GeneratorSystemSeconds)
	}
	return ofCores(r, r.Result.Cost.Shares.Generator)
}

// ofCores is a number of busy cores as a percentage of all cores.
func ofCores(r store.Record, cores float64) float64 {
	if r.Host.Cores == 0 || r.Result.Cost.Messages == 0 {
		return math.NaN()
	}
	return 100 * cores / float64(r.Host.Cores)
}

// share is CPU seconds as a percentage of what all cores had meanwhile, as mpstat shows it, for records without
// shares.
func share(r store.Record, seconds float64) float64 {
	window := r.Result.Cost.Seconds
	if window == 0 { // older records don't say
		window = r.Result.Seconds
	}
	if window == 0 && r.Result.PublishRate > 0 { // nor do those of curves
		window = float64(r.Result.Cost.Messages) / r.Result.PublishRate
	}
	if window <= 0 {
		return math.NaN()
	}
	return ofCores(r, seconds/window)
}

// number is v as the value of a cell: nil if it isn't known.
func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// median is the median of a figure over the repetitions of a load that have it.
func median(of func(store.Record) float64) func(line) any {
	return func(l line) any {
		var values []float64
		for _, r := range l.Records {
			if v := of(r); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		return number(results.Summarize(values).Median)
	}
}

// metric is the median of a metric of the load over its repetitions.
func metric(key string) func(line) any {
	return func(l line) any { return scaled(key, results.Summarize(l.Measured(key)).Median) }
}

// whole is a metric of whole repetitions, which each rate of their curves shows.
func whole(key string) func(line) any {
	m := results.MustMetric(key)
	return func(l line) any { return scaled(key, m.Over(l.FullRecords).Median) }
}

// total adds over repetitions: a loss isn't averaged away.
func total(key string) func(line) any {
	m := results.MustMetric(key)
	return func(l line) any { return scaled(key, m.Over(l.Records).Median) }
}

// worst is the largest value of any repetition.
func worst(key string) func(line) any {
	return func(l line) any {
		values := l.Measured(key)
		if len(values) == 0 {
			return nil
		}
		return scaled(key, slices.Max(values))
	}
}

// merged is read from the merged histogram of all runs, never averaged over percentiles.
func merged(key string) func(line) any {
	m := results.MustMetric(key)
	return func(l line) any {
		d := l.distributions[m.Histogram]
		if d.N == 0 || d.Closed {
			return nil
		}
		return scaled(key, m.Read(d.Snapshot))
	}
}

// scaled is a value of a metric in the sheet's unit: milliseconds, megabytes, else the metric's own.
func scaled(key string, v float64) any {
	switch results.MustMetric(key).Unit {
	case unit.Nanoseconds, unit.Bytes:
		v /= 1e6
	}
	return number(v)
}

// paused is the worst pause of the generator's machine over repetitions.
func paused(of func(*store.Pauses) float64) func(line) any {
	return func(l line) any {
		var worst any
		for _, r := range l.Records {
			if r.Result.Pauses == nil {
				continue
			}
			if v := number(of(r.Result.Pauses)); v != nil && (worst == nil || v.(float64) > worst.(float64)) {
				worst = v
			}
		}
		return worst
	}
}

// longestAt is when the longest pause of all repetitions began.
func longestAt(l line) any {
	var longest *store.Pauses
	for _, r := range l.Records {
		if p := r.Result.Pauses; p != nil && (longest == nil || p.LongestNs > longest.LongestNs) {
			longest = p
		}
	}
	if longest == nil {
		return nil
	}
	return float64(longest.LongestOffsetNs) / 1e9
}
