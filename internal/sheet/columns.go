package sheet

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// line is a row of an experiment: one point at one load, over its repetitions.
type line struct {
	results.LoadPoint
	status string // of the load point or, if nothing was measured, of the point
	// distributions are the latencies of all repetitions together, by their kind's name; nil if nothing was measured.
	distributions map[string]results.Distribution
}

// column is a column of an experiment.
type column struct {
	name   string
	unit   string           // stands in parentheses behind the name; may be empty
	format string           // of its numbers; empty for words
	width  float64          // in letters
	value  func(l line) any // a string or a number; nil if it is not known
}

// Formats of numbers, by their last digit.
const (
	ones    = "#,##0"
	tenths  = "#,##0.0"
	thirds  = "#,##0.000"
	percent = "0.0"
	general = "General" // numbers of an axis, aligned like words
)

// figureColumns are the figures of a row: name, unit, number format, width in letters, and how the value is found. The first study's
// columns have its names (msg/s, min, avg, 95th, 99th, disk MB, cpu %usr, cpu %sys).
var figureColumns = []column{
	{"msg/s", "confirmed per second", ones, 11, medianOf(results.KeyPublishRate)},
	{"received/s", "all subscriptions", ones, 11, medianOf(results.KeyReceiveRate)},
	{"sustainable", "msg/s, passing", ones, 12, ofFullRuns(results.KeySustainableLow)},
	{"fails at", "msg/s", ones, 11, ofFullRuns(results.KeySustainableHigh)},
	{"before the knee", "msg/s", ones, 13, ofFullRuns(results.KeyKneeRate)},
	{"MB/s", "10^6 B confirmed per second", thirds, 11, medianOf(results.KeyPublishMB)},
	{"received MB/s", "10^6 B, all subscriptions", thirds, 13, medianOf(results.KeyReceiveMB)},
	{"per producer", "msg/s", ones, 12, medianOf(results.KeyProducerRate)},
	{"per consumer", "msg/s", ones, 12, medianOf(results.KeyConsumerRate)},
	{"min", "ms", thirds, 10, fromHistogram(results.KeyEndToEndMin)},
	{"avg", "ms", thirds, 10, fromHistogram(results.KeyEndToEndMean)},
	{"50th", "ms", thirds, 10, fromHistogram(results.KeyEndToEndP50)},
	{"95th", "ms", thirds, 10, fromHistogram(results.KeyEndToEndP95)},
	{"99th", "ms", thirds, 10, fromHistogram(results.KeyEndToEndP99)},
	{"99.9th", "ms", thirds, 10, fromHistogram(results.KeyEndToEndP999)},
	{"max", "ms", thirds, 10, fromHistogram(results.KeyEndToEndMax)},
	{"publish min", "ms", thirds, 10, fromHistogram(results.KeyPublishMin)},
	{"publish avg", "ms", thirds, 10, fromHistogram(results.KeyPublishMean)},
	{"publish 50th", "ms", thirds, 11, fromHistogram(results.KeyPublishP50)},
	{"publish 95th", "ms", thirds, 11, fromHistogram(results.KeyPublishP95)},
	{"publish 99th", "ms", thirds, 11, fromHistogram(results.KeyPublishP99)},
	{"publish max", "ms", thirds, 11, fromHistogram(results.KeyPublishMax)},
	{"from send avg", "ms, end to end", thirds, 13, fromHistogram(results.KeyEndToEndServiceMean)},
	{"from send 99th", "ms, end to end", thirds, 13, fromHistogram(results.KeyEndToEndServiceP99)},
	{"avg of seconds", "ms, from send", thirds, 13, medianOf(results.KeyMeanOfSeconds)},
	{"corrected avg", "ms, from send", thirds, 13, medianOf(results.KeyCorrectedMean)},
	{"corrected 99th", "ms, from send", thirds, 13, medianOf(results.KeyCorrectedP99)},
	{"disk MB", "written, 10^6 B", tenths, 11, medianOf(results.KeyBrokerDiskWrite)},
	{"disk read MB", "read, 10^6 B", tenths, 12, medianOf(results.KeyBrokerDiskRead)},
	{"flushes", "per message", thirds, 11, medianOf(results.KeyBrokerFlushes)},
	{"cpu %usr", "broker, % of all cores", percent, 11, medianBy(brokerUser)},
	{"cpu %sys", "broker, % of all cores", percent, 11, medianBy(brokerSystem)},
	{"core %usr", "broker, % of one core", percent, 11, medianOf(results.KeyBrokerCPUUser)},
	{"core %sys", "broker, % of one core", percent, 11, medianOf(results.KeyBrokerCPUSystem)},
	{"generator cpu %", "% of all cores", percent, 11, medianBy(generatorPercent)},
	{"producing %usr", "of one core", percent, 14, medianOf(results.KeyProducerCPUUser)},
	{"producing %sys", "of one core", percent, 14, medianOf(results.KeyProducerCPUSystem)},
	{"producing MB", "memory, 10^6 B", tenths, 13, medianOf(results.KeyProducerRSS)},
	{"consuming %usr", "of one core", percent, 14, medianOf(results.KeyConsumerCPUUser)},
	{"consuming %sys", "of one core", percent, 14, medianOf(results.KeyConsumerCPUSystem)},
	{"consuming MB", "memory, 10^6 B", tenths, 13, medianOf(results.KeyConsumerRSS)},
	{"relaying CPU", "s per million", thirds, 12, medianOf(results.KeyRelayCPU)},
	{"relaying MB", "memory, 10^6 B", tenths, 13, medianOf(results.KeyRelayRSS)},
	{"broker CPU", "s per million", thirds, 12, medianOf(results.KeyBrokerCPU)},
	{"memory MB", "broker, 10^6 B", tenths, 11, medianOf(results.KeyBrokerRSS)},
	{"total s", "", thirds, 10, ofFullRuns(results.KeyTotalSeconds)},
	{"drained/s", "", ones, 11, ofFullRuns(results.KeyDrainRate)},
	{"largest backlog", "messages", ones, 13, medianOf(results.KeyLargestBacklog)},
	{"due", "all repetitions", ones, 11, totalOf(results.KeyDue)},
	{"never sent", "all repetitions", ones, 11, totalOf(results.KeyUnsent)},
	{"failed", "all repetitions", ones, 9, totalOf(results.KeyFailed)},
	{"unresolved", "all repetitions", ones, 11, totalOf(results.KeyUnresolved)},
	{"resent", "all repetitions", ones, 9, totalOf(results.KeyResent)},
	{"lost", "all repetitions", ones, 9, totalOf(results.KeyLost)},
	{"lost after ack", "all repetitions", ones, 13, totalOf(results.KeyLostAcked)},
	{"duplicated", "all repetitions", ones, 10, totalOf(results.KeyDuplicated)},
	{"reordered", "all repetitions", ones, 10, totalOf(results.KeyReordered)},
	{"corrupted", "all repetitions", ones, 10, totalOf(results.KeyCorrupted)},
	{"own pauses 99th", "ms", thirds, 14, worstOf(results.KeyPauseP99)},
	{"own pauses max", "ms", thirds, 14, worstOf(results.KeyPauseMax)},
	{"at", "s, in the run of the longest", thirds, 10, startOfLongestPause},
	{"own GC pauses", "ms", thirds, 13, worstPause(func(p *store.Pauses) float64 { return float64(p.GCPauseNs) / 1e6 })},
	{"stolen", "s, by the hypervisor", thirds, 10, worstPause(func(p *store.Pauses) float64 { return p.StolenSeconds })},
	{"waited for a core", "s, threads of the generator", thirds, 15, worstPause(func(p *store.Pauses) float64 { return p.QueuedSeconds })},
}

// figureIndex is the place of a column among figureColumns. It panics if there is none: a chart would show another column.
func figureIndex(name string) int {
	i := slices.IndexFunc(figureColumns, func(c column) bool { return c.name == name })
	if i < 0 {
		panic("sheet: no figure column " + name)
	}
	return i
}
