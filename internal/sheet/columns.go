// The figure columns of an experiment's sheet. A row of it is one load, such as 1,000 messages/s to kafka, with its repetitions, which are
// usually three or more. What a column makes of them shows in how it is built:
//
//	median  msg/s   998, 1000, 1003   → 1000
//	sum     lost    0, 2, 1           → 3, as a median would hide a single loss
//	merged  99th    three histograms  → the percentile of all their messages together
//	worst   stolen  0, 0.4, 0.1       → 0.4
//
// Times in nanoseconds are shown as milliseconds, bytes as 10^6 bytes.

package sheet

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// column is a column of the sheet of an experiment, such as "99th (ms)". Its value is made for each row.
type column struct {
	name   string
	note   string  // in parentheses behind the name: the unit, or of what the figure is; may be empty
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
var figureColumns = slices.Concat(rateColumns, latencyColumns, resourceColumns, bookColumns, pauseColumns)

var rateColumns = []column{
	median("msg/s", "that came through", 11, ones, results.KeyThroughput),
	median("published/s", "confirmed", 11, ones, results.KeyPublishRate),
	median("received/s", "all subscriptions", 11, ones, results.KeyReceiveRate),
	medianOfFullRuns("sustainable", "msg/s, passing", 12, ones, results.KeySustainableLow),
	{name: "fails at", note: "msg/s", width: 11, format: ones, value: failsAt},
	medianOfFullRuns("before the knee", "msg/s", 13, ones, results.KeyKneeRate),
	median("MB/s", "10^6 B confirmed per second", 11, thousandths, results.KeyPublishMB),
	median("received MB/s", "10^6 B, all subscriptions", 13, thousandths, results.KeyReceiveMB),
	median("per producer", "msg/s", 12, ones, results.KeyProducerRate),
	median("per consumer", "msg/s", 12, ones, results.KeyConsumerRate),
}

// latencyColumns are end to end, then from the intended time of sending to the broker's confirmation, then from the actual send.
var latencyColumns = []column{
	merged("min", "ms", 10, results.KeyEndToEndMin),
	merged("avg", "ms", 10, results.KeyEndToEndMean),
	merged("50th", "ms", 10, results.KeyEndToEndP50),
	merged("95th", "ms", 10, results.KeyEndToEndP95),
	merged("99th", "ms", 10, results.KeyEndToEndP99),
	merged("99.9th", "ms", 10, results.KeyEndToEndP999),
	merged("max", "ms", 10, results.KeyEndToEndMax),
	merged("publish min", "ms", 10, results.KeyPublishMin),
	merged("publish avg", "ms", 10, results.KeyPublishMean),
	merged("publish 50th", "ms", 11, results.KeyPublishP50),
	merged("publish 95th", "ms", 11, results.KeyPublishP95),
	merged("publish 99th", "ms", 11, results.KeyPublishP99),
	merged("publish max", "ms", 11, results.KeyPublishMax),
	merged("from send avg", "ms, end to end", 13, results.KeyEndToEndServiceMean),
	merged("from send 99th", "ms, end to end", 13, results.KeyEndToEndServiceP99),
	median("avg of seconds", "ms, from send", 13, thousandths, results.KeyMeanOfSeconds),
	median("corrected avg", "ms, from send", 13, thousandths, results.KeyCorrectedMean),
	median("corrected 99th", "ms, from send", 13, thousandths, results.KeyCorrectedP99),
}

// resourceColumns are what the broker and the generator used of their machines. The generator's producers, consumers and relays are
// processes of their own in some measurements, and have columns of their own.
var resourceColumns = []column{
	median("disk MB", "written, 10^6 B", 11, tenths, results.KeyBrokerDiskWrite),
	median("disk read MB", "read, 10^6 B", 12, tenths, results.KeyBrokerDiskRead),
	median("flushes", "per message", 11, thousandths, results.KeyBrokerFlushes),
	{name: "cpu %usr", note: "broker, % of all cores", width: 11, format: percent, value: medianBy(brokerUserPercent)},
	{name: "cpu %sys", note: "broker, % of all cores", width: 11, format: percent, value: medianBy(brokerSystemPercent)},
	median("core %usr", "broker, % of one core", 11, percent, results.KeyBrokerCPUUser),
	median("core %sys", "broker, % of one core", 11, percent, results.KeyBrokerCPUSystem),
	{name: "generator cpu %", note: "% of all cores", width: 11, format: percent, value: medianBy(generatorPercent)},
	median("producing %usr", "of one core", 14, percent, results.KeyProducerCPUUser),
	median("producing %sys", "of one core", 14, percent, results.KeyProducerCPUSystem),
	median("producing MB", "memory, 10^6 B", 13, tenths, results.KeyProducerRSS),
	median("consuming %usr", "of one core", 14, percent, results.KeyConsumerCPUUser),
	median("consuming %sys", "of one core", 14, percent, results.KeyConsumerCPUSystem),
	median("consuming MB", "memory, 10^6 B", 13, tenths, results.KeyConsumerRSS),
	median("relaying CPU", "s per million", 12, thousandths, results.KeyRelayCPU),
	median("relaying MB", "memory, 10^6 B", 13, tenths, results.KeyRelayRSS),
	median("broker CPU", "s per million", 12, thousandths, results.KeyBrokerCPU),
	median("memory MB", "broker, 10^6 B", 11, tenths, results.KeyBrokerRSS),
}

// bookColumns are how long a given amount of work took, and what became of the messages.
var bookColumns = []column{
	medianOfFullRuns("total s", "", 10, thousandths, results.KeyTotalSeconds),
	medianOfFullRuns("drained/s", "", 11, ones, results.KeyDrainRate),
	median("largest backlog", "messages", 13, ones, results.KeyLargestBacklog),
	sum("due", 11, results.KeyDue),
	sum("never sent", 11, results.KeyUnsent),
	sum("failed", 9, results.KeyFailed),
	sum("unresolved", 11, results.KeyUnresolved),
	sum("resent", 9, results.KeyResent),
	sum("lost", 9, results.KeyLost),
	sum("lost after ack", 13, results.KeyLostAcked),
	sum("dropped by client", 13, results.KeyDropped),
	sum("duplicated", 10, results.KeyDuplicated),
	sum("reordered", 10, results.KeyReordered),
	sum("corrupted", 10, results.KeyCorrupted),
}

// pauseColumns tell for how long the generator stood still. The longest pause, "own pauses max", began at "at".
var pauseColumns = []column{
	worst("own pauses 99th", "ms", 14, largestOf(results.KeyPauseP99)),
	worst("own pauses max", "ms", 14, largestOf(results.KeyPauseMax)),
	worst("at", "s, in the run of the longest", 10, startOfLongestPause),
	worst("own GC pauses", "ms", 13, worstPauses(func(p *store.Pauses) float64 { return float64(p.GCPauseNs) / 1e6 })),
	worst("stolen", "s, by the hypervisor", 10, worstPauses(func(p *store.Pauses) float64 { return p.StolenSeconds })),
	worst("waited for a core", "s, threads of the generator", 15, worstPauses(func(p *store.Pauses) float64 { return p.QueuedSeconds })),
}

// median is a column with the median over the repetitions of a load. It panics for a metric that counts messages.
func median(name, note string, width float64, format, key string) column {
	if results.MustMetric(key).Counts() {
		panic("sheet: counts are added up, no median is taken: " + key)
	}
	return column{name: name, note: note, width: width, format: format, value: overRepetitions(key)}
}

// medianOfFullRuns is a column with the median over complete repetitions: each rate of a curve has that of the whole curve.
func medianOfFullRuns(name, note string, width float64, format, key string) column {
	return column{name: name, note: note, width: width, format: format, value: overFullRuns(key)}
}

// sum is a column with a count of messages, summed over all repetitions. It panics for a metric that is no count.
func sum(name string, width float64, key string) column {
	if !results.MustMetric(key).Counts() {
		panic("sheet: only counts are added up: " + key)
	}
	return column{name: name, note: "all repetitions", width: width, format: ones, value: overRepetitions(key)}
}

// merged is a column with a latency in ms, from the histograms of all repetitions together.
func merged(name, note string, width float64, key string) column {
	return column{name: name, note: note, width: width, format: thousandths, value: fromHistogram(key)}
}

// worst is a column with the largest value of any repetition.
func worst(name, note string, width float64, value cellValue) column {
	return column{name: name, note: note, width: width, format: thousandths, value: value}
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
