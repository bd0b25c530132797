// What columns make of a load's repetitions. A load that was repeated three times becomes one row:
//
//	msg/s   998, 1000, 1003   the median, 1000
//	lost    0, 2, 1           the sum of a count, 3
//	99th    three histograms  the percentile of all their messages together
//
// Every repetition in a row has a Result: a point of which nothing was measured has a row without repetitions.

package sheet

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// cellValue makes the value of a column for a row: a string or a number, or nil if it is not known.
type cellValue func(loadRow) any

// overRepetitions is a metric over the repetitions of a load: its median, or the sum of a count of messages, because a
// median would hide a single loss.
func overRepetitions(key string) cellValue {
	m := results.MustMetric(key)
	return func(l loadRow) any { return summaryCell(m, l.Over(m)) } // the median of a sum is the sum
}

// overFullRuns is a metric over complete repetitions: every rate of a curve shows the metric of the whole curve.
func overFullRuns(key string) cellValue {
	m := results.MustMetric(key)
	return func(l loadRow) any { return toCell(m, m.Over(l.FullRecords).Median) }
}

// failsAt is the median, over complete repetitions, of the lowest rate that failed in their searches. A search in which none failed counts as
// higher than all others: it is nil if there are as many of them as of others, or more.
func failsAt(l loadRow) any {
	passing, failing := results.MustMetric(results.KeySustainableLow), results.MustMetric(results.KeySustainableHigh)
	var limits []float64
	for _, r := range l.FullRecords {
		switch limit := failing.Of(r); {
		case !math.IsNaN(limit):
			limits = append(limits, limit)
		case !math.IsNaN(passing.Of(r)):
			limits = append(limits, math.Inf(1))
		}
	}
	if len(limits) == 0 {
		return nil
	}
	slices.Sort(limits)
	return numberOrNil((limits[(len(limits)-1)/2] + limits[len(limits)/2]) / 2)
}

// medianBy is the median of a figure of a record over the repetitions of a load, without those for which it is NaN.
func medianBy(figure func(store.Record) float64) cellValue {
	return func(l loadRow) any {
		var values []float64
		for _, r := range l.Records {
			if v := figure(r); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		return numberOrNil(results.Summarize(values).Median)
	}
}

// largestOf is the largest value of a metric in any repetition.
func largestOf(key string) cellValue {
	m := results.MustMetric(key)
	return func(l loadRow) any { return toCell(m, largest(m.Values(l.Records))) }
}

// worstPauses is the largest value, in any repetition, of a figure of the generator's pauses.
func worstPauses(figure func(*store.Pauses) float64) cellValue {
	return func(l loadRow) any {
		var values []float64
		for _, r := range l.Records {
			if p := r.Result.Pauses; p != nil {
				values = append(values, figure(p))
			}
		}
		return numberOrNil(largest(values))
	}
}

// largest is NaN without values.
func largest(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Max(values)
}

// fromHistogram is a metric of the merged histogram of all repetitions, as percentiles can't be averaged. Latencies of
// closed loops are left out.
func fromHistogram(key string) cellValue {
	m := results.MustMetric(key)
	return func(l loadRow) any {
		merged := l.distributions[m.Histogram]
		if merged.N == 0 || merged.Closed {
			return nil
		}
		return summaryCell(m, m.OfHistogram(merged.Latencies))
	}
}

// lowerBound is the value of a cell that is shown as "≥ 10.3".
type lowerBound float64

// summaryCell is the median of a summary as toCell, or as a lowerBound if it is one.
func summaryCell(m results.Metric, s results.Summary) any {
	v := toCell(m, s.Median)
	if number, known := v.(float64); known && s.AtLeast() {
		return lowerBound(number)
	}
	return v
}

// startOfLongestPause is when the longest pause of any repetition began, in seconds since the start of its measured
// phase. It is known of standstills only: the cell is empty where all pauses were shorter.
func startOfLongestPause(l loadRow) any {
	var longest *store.Pauses
	for _, r := range l.Records {
		if p := r.Result.Pauses; p.Watched() && p.LongestNs > 0 && (longest == nil || p.LongestNs > longest.LongestNs) {
			longest = p
		}
	}
	if longest == nil {
		return nil
	}
	return float64(longest.LongestOffsetNs) / 1e9
}

// toCell is a metric's value in the unit of the sheet: milliseconds for nanoseconds, 10^6 bytes for bytes, or else the
// metric's own.
func toCell(m results.Metric, v float64) any {
	if m.Unit == unit.Nanoseconds || m.Unit == unit.Bytes {
		v /= 1e6
	}
	return numberOrNil(v)
}

// numberOrNil is v as the value of a cell, which is empty (nil) for NaN and infinity.
func numberOrNil(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

func brokerUserPercent(r store.Record) float64 {
	return brokerPercent(r, r.Result.Cost.BrokerUserSeconds, func(s *store.Shares) float64 { return s.BrokerUser })
}

func brokerSystemPercent(r store.Record) float64 {
	return brokerPercent(r, r.Result.Cost.BrokerSystemSeconds, func(s *store.Shares) float64 { return s.BrokerSystem })
}

// brokerPercent is a part of the broker's CPU time, user or system, as a percentage of all cores. cpuSeconds and
// busyCores are that part's.
func brokerPercent(r store.Record, cpuSeconds float64, busyCores func(*store.Shares) float64) float64 {
	cost, shares := r.Result.Cost, r.Result.Cost.Shares
	switch {
	case !cost.BrokerKnown:
		return math.NaN()
	case shares != nil: // of the measured phase
		return percentOfCores(r, busyCores(shares))
	default: // the phase was too short: CPU seconds, up to the end of the drain
		return percentOfTime(r, cpuSeconds)
	}
}

// generatorPercent is the generator's CPU time as a percentage of all cores.
func generatorPercent(r store.Record) float64 {
	cost := r.Result.Cost
	if cost.Shares == nil {
		return percentOfTime(r, cost.GeneratorUserSeconds+cost.GeneratorSystemSeconds)
	}
	return percentOfCores(r, cost.Shares.Generator)
}

// percentOfCores is a number of busy cores as a percentage of all cores: of 8 cores, 2 are 25 %. It is NaN, which makes an
// empty cell, if the number of cores is not known, or if no message was acknowledged, as in records without any costs.
func percentOfCores(r store.Record, busy float64) float64 {
	if r.Host.Cores == 0 || r.Result.Cost.Messages == 0 {
		return math.NaN()
	}
	return 100 * busy / float64(r.Host.Cores)
}

// percentOfTime is CPU seconds as a percentage of the time of all cores, as mpstat shows it.
func percentOfTime(r store.Record, cpuSeconds float64) float64 {
	seconds := r.Result.Cost.Seconds
	if seconds <= 0 {
		return math.NaN()
	}
	return percentOfCores(r, cpuSeconds/seconds)
}
