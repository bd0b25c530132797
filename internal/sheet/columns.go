package sheet

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// column is a column of the sheet of an experiment, such as "99th (ms)". Its value is made for each row, which is one
// load with its repetitions.
type column struct {
	name   string
	unit   string  // in parentheses behind the name; may be empty
	width  float64 // in letters
	format string  // of its numbers; empty for words
	value  cellValue
}

// Formats of numbers, by their last digit.
const (
	ones        = "#,##0"
	tenths      = "#,##0.0"
	thousandths = "#,##0.000"
	percent     = "0.0"
	general     = "General" // of an axis, aligned like words
)

// figureColumns are the figures of a row, in the order of the sheet. The sheet About explains them (see meanings).
var figureColumns = []column{
	{name: "msg/s", unit: "confirmed per second", width: 11, format: ones, value: overRepetitions(results.KeyPublishRate)},
	{name: "received/s", unit: "all subscriptions", width: 11, format: ones, value: overRepetitions(results.KeyReceiveRate)},
	{name: "sustainable", unit: "msg/s, passing", width: 12, format: ones, value: overFullRuns(results.KeySustainableLow)},
	{name: "fails at", unit: "msg/s", width: 11, format: ones, value: overFullRuns(results.KeySustainableHigh)},
	{name: "before the knee", unit: "msg/s", width: 13, format: ones, value: overFullRuns(results.KeyKneeRate)},
	{name: "MB/s", unit: "10^6 B confirmed per second", width: 11, format: thousandths, value: overRepetitions(results.KeyPublishMB)},
	{name: "received MB/s", unit: "10^6 B, all subscriptions", width: 13, format: thousandths, value: overRepetitions(results.KeyReceiveMB)},
	{name: "per producer", unit: "msg/s", width: 12, format: ones, value: overRepetitions(results.KeyProducerRate)},
	{name: "per consumer", unit: "msg/s", width: 12, format: ones, value: overRepetitions(results.KeyConsumerRate)},
	{name: "min", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyEndToEndMin)},
	{name: "avg", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyEndToEndMean)},
	{name: "50th", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyEndToEndP50)},
	{name: "95th", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyEndToEndP95)},
	{name: "99th", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyEndToEndP99)},
	{name: "99.9th", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyEndToEndP999)},
	{name: "max", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyEndToEndMax)},
	{name: "publish min", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyPublishMin)},
	{name: "publish avg", unit: "ms", width: 10, format: thousandths, value: fromHistogram(results.KeyPublishMean)},
	{name: "publish 50th", unit: "ms", width: 11, format: thousandths, value: fromHistogram(results.KeyPublishP50)},
	{name: "publish 95th", unit: "ms", width: 11, format: thousandths, value: fromHistogram(results.KeyPublishP95)},
	{name: "publish 99th", unit: "ms", width: 11, format: thousandths, value: fromHistogram(results.KeyPublishP99)},
	{name: "publish max", unit: "ms", width: 11, format: thousandths, value: fromHistogram(results.KeyPublishMax)},
	{name: "from send avg", unit: "ms, end to end", width: 13, format: thousandths, value: fromHistogram(results.KeyEndToEndServiceMean)},
	{name: "from send 99th", unit: "ms, end to end", width: 13, format: thousandths, value: fromHistogram(results.KeyEndToEndServiceP99)},
	{name: "avg of seconds", unit: "ms, from send", width: 13, format: thousandths, value: overRepetitions(results.KeyMeanOfSeconds)},
	{name: "corrected avg", unit: "ms, from send", width: 13, format: thousandths, value: overRepetitions(results.KeyCorrectedMean)},
	{name: "corrected 99th", unit: "ms, from send", width: 13, format: thousandths, value: overRepetitions(results.KeyCorrectedP99)},
	{name: "disk MB", unit: "written, 10^6 B", width: 11, format: tenths, value: overRepetitions(results.KeyBrokerDiskWrite)},
	{name: "disk read MB", unit: "read, 10^6 B", width: 12, format: tenths, value: overRepetitions(results.KeyBrokerDiskRead)},
	{name: "flushes", unit: "per message", width: 11, format: thousandths, value: overRepetitions(results.KeyBrokerFlushes)},
	{name: "cpu %usr", unit: "broker, % of all cores", width: 11, format: percent, value: medianBy(brokerUserPercent)},
	{name: "cpu %sys", unit: "broker, % of all cores", width: 11, format: percent, value: medianBy(brokerSystemPercent)},
	{name: "core %usr", unit: "broker, % of one core", width: 11, format: percent, value: overRepetitions(results.KeyBrokerCPUUser)},
	{name: "core %sys", unit: "broker, % of one core", width: 11, format: percent, value: overRepetitions(results.KeyBrokerCPUSystem)},
	{name: "generator cpu %", unit: "% of all cores", width: 11, format: percent, value: medianBy(generatorPercent)},
	{name: "producing %usr", unit: "of one core", width: 14, format: percent, value: overRepetitions(results.KeyProducerCPUUser)},
	{name: "producing %sys", unit: "of one core", width: 14, format: percent, value: overRepetitions(results.KeyProducerCPUSystem)},
	{name: "producing MB", unit: "memory, 10^6 B", width: 13, format: tenths, value: overRepetitions(results.KeyProducerRSS)},
	{name: "consuming %usr", unit: "of one core", width: 14, format: percent, value: overRepetitions(results.KeyConsumerCPUUser)},
	{name: "consuming %sys", unit: "of one core", width: 14, format: percent, value: overRepetitions(results.KeyConsumerCPUSystem)},
	{name: "consuming MB", unit: "memory, 10^6 B", width: 13, format: tenths, value: overRepetitions(results.KeyConsumerRSS)},
	{name: "relaying CPU", unit: "s per million", width: 12, format: thousandths, value: overRepetitions(results.KeyRelayCPU)},
	{name: "relaying MB", unit: "memory, 10^6 B", width: 13, format: tenths, value: overRepetitions(results.KeyRelayRSS)},
	{name: "broker CPU", unit: "s per million", width: 12, format: thousandths, value: overRepetitions(results.KeyBrokerCPU)},
	{name: "memory MB", unit: "broker, 10^6 B", width: 11, format: tenths, value: overRepetitions(results.KeyBrokerRSS)},
	{name: "total s", width: 10, format: thousandths, value: overFullRuns(results.KeyTotalSeconds)},
	{name: "drained/s", width: 11, format: ones, value: overFullRuns(results.KeyDrainRate)},
	{name: "largest backlog", unit: "messages", width: 13, format: ones, value: overRepetitions(results.KeyLargestBacklog)},
	{name: "due", unit: "all repetitions", width: 11, format: ones, value: overRepetitions(results.KeyDue)},
	{name: "never sent", unit: "all repetitions", width: 11, format: ones, value: overRepetitions(results.KeyUnsent)},
	{name: "failed", unit: "all repetitions", width: 9, format: ones, value: overRepetitions(results.KeyFailed)},
	{name: "unresolved", unit: "all repetitions", width: 11, format: ones, value: overRepetitions(results.KeyUnresolved)},
	{name: "resent", unit: "all repetitions", width: 9, format: ones, value: overRepetitions(results.KeyResent)},
	{name: "lost", unit: "all repetitions", width: 9, format: ones, value: overRepetitions(results.KeyLost)},
	{name: "lost after ack", unit: "all repetitions", width: 13, format: ones, value: overRepetitions(results.KeyLostAcked)},
	{name: "duplicated", unit: "all repetitions", width: 10, format: ones, value: overRepetitions(results.KeyDuplicated)},
	{name: "reordered", unit: "all repetitions", width: 10, format: ones, value: overRepetitions(results.KeyReordered)},
	{name: "corrupted", unit: "all repetitions", width: 10, format: ones, value: overRepetitions(results.KeyCorrupted)},
	{name: "own pauses 99th", unit: "ms", width: 14, format: thousandths, value: largestOf(results.KeyPauseP99)},
	{name: "own pauses max", unit: "ms", width: 14, format: thousandths, value: largestOf(results.KeyPauseMax)},
	{name: "at", unit: "s, in the run of the longest", width: 10, format: thousandths, value: startOfLongestPause},
	{name: "own GC pauses", unit: "ms", width: 13, format: thousandths, value: worstPauses(func(p *store.Pauses) float64 { return float64(p.GCPauseNs) / 1e6 })},
	{name: "stolen", unit: "s, by the hypervisor", width: 10, format: thousandths, value: worstPauses(func(p *store.Pauses) float64 { return p.StolenSeconds })},
	{name: "waited for a core", unit: "s, threads of the generator", width: 15, format: thousandths, value: worstPauses(func(p *store.Pauses) float64 { return p.QueuedSeconds })},
}

// figureIndex is the place of a column among figureColumns. It panics if there is none: a chart would show another
// column.
func figureIndex(name string) int {
	i := slices.IndexFunc(figureColumns, func(c column) bool { return c.name == name })
	if i < 0 {
		panic("sheet: no figure column " + name)
	}
	return i
}
