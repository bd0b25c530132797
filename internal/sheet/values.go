package sheet

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// medianOf is the median of a metric over the repetitions of a load.
func medianOf(key string) func(line) any {
	return func(l line) any { return inSheet(key, results.Summarize(l.Measured(key)).Median) }
}

// medianBy is the median of a function of a record over the repetitions of a load, without those for which it is NaN.
func medianBy(of func(store.Record) float64) func(line) any {
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

// ofFullRuns is a metric of complete repetitions. Each rate of a curve shows that of the curve.
func ofFullRuns(key string) func(line) any {
	m := results.MustMetric(key)
	return func(l line) any { return inSheet(key, m.Over(l.FullRecords).Median) }
}

// totalOf is a count of messages, added up over repetitions: a median would hide a single loss.
func totalOf(key string) func(line) any {
	m := results.MustMetric(key)
	return func(l line) any { return inSheet(key, m.Over(l.Records).Median) } // the median of a sum is the sum
}

// worstOf is the largest value of any repetition.
func worstOf(key string) func(line) any {
	return func(l line) any {
		values := l.Measured(key)
		if len(values) == 0 {
			return nil
		}
		return inSheet(key, slices.Max(values))
	}
}

// fromHistogram is read from the histogram of all repetitions together, as percentiles can't be averaged. Latencies of closed loops are
// left out.
func fromHistogram(key string) func(line) any {
	m := results.MustMetric(key)
	return func(l line) any {
		d := l.distributions[m.Histogram]
		if d.N == 0 || d.Closed {
			return nil
		}
		return inSheet(key, m.Read(d.Snapshot))
	}
}

// worstPause is the largest of a figure of the generator's pauses in any repetition.
func worstPause(of func(*store.Pauses) float64) func(line) any {
	return func(l line) any {
		worst := math.Inf(-1)
		for _, r := range l.Records {
			if r.Result.Pauses != nil {
				worst = max(worst, of(r.Result.Pauses))
			}
		}
		return number(worst)
	}
}

// startOfLongestPause is when the longest pause of any repetition began, in seconds since the start of its measured phase.
func startOfLongestPause(l line) any {
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

// inSheet is a metric's value in the unit of the sheet: milliseconds, 10^6 bytes, or else the metric's own.
func inSheet(key string, v float64) any {
	switch results.MustMetric(key).Unit {
	case unit.Nanoseconds, unit.Bytes:
		v /= 1e6
	}
	return number(v)
}

// number is v as the value of a cell, which is empty (nil) if v isn't known (NaN) or has no bound.
func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// brokerUser is the broker's time in user mode as a percentage of all cores.
func brokerUser(r store.Record) float64 {
	var cores float64
	if s := r.Result.Cost.Shares; s != nil {
		cores = s.BrokerUser
	}
	return brokerPercent(r, cores, r.Result.Cost.BrokerUserSeconds)
}

// brokerSystem is the broker's time in the kernel as a percentage of all cores.
func brokerSystem(r store.Record) float64 {
	var cores float64
	if s := r.Result.Cost.Shares; s != nil {
		cores = s.BrokerSystem
	}
	return brokerPercent(r, cores, r.Result.Cost.BrokerSystemSeconds)
}

// brokerPercent is a part of the broker's CPU time, user or system, as a percentage of all cores. Records hold it in one of three ways:
// the cores that the part kept busy in the measured phase; the busy cores of both parts together, which are divided as the CPU seconds
// are; or only the CPU seconds up to the end of the drain.
func brokerPercent(r store.Record, busyCores, seconds float64) float64 {
	cost := r.Result.Cost
	total := cost.BrokerUserSeconds + cost.BrokerSystemSeconds
	switch s := cost.Shares; {
	case !cost.BrokerKnown:
		return math.NaN()
	case s != nil && s.BrokerUser+s.BrokerSystem > 0:
		return percentOfCores(r, busyCores)
	case s != nil && total > 0:
		return percentOfCores(r, s.Broker*seconds/total)
	}
	return percentOfTime(r, seconds)
}

// generatorPercent is the generator's CPU time as a percentage of all cores.
func generatorPercent(r store.Record) float64 {
	if r.Result.Cost.Shares == nil {
		return percentOfTime(r, r.Result.Cost.GeneratorUserSeconds+r.Result.Cost.GeneratorSystemSeconds)
	}
	return percentOfCores(r, r.Result.Cost.Shares.Generator)
}

// percentOfCores is a number of busy cores as a percentage of all cores.
func percentOfCores(r store.Record, busy float64) float64 {
	if r.Host.Cores == 0 || r.Result.Cost.Messages == 0 {
		return math.NaN()
	}
	return 100 * busy / float64(r.Host.Cores)
}

// percentOfTime is CPU seconds as a percentage of the time of all cores, as mpstat shows it.
func percentOfTime(r store.Record, cpuSeconds float64) float64 {
	seconds := r.Result.Cost.Seconds
	if seconds == 0 { // in older records
		seconds = r.Result.Seconds
	}
	if seconds == 0 && r.Result.PublishRate > 0 { // in older records of curves
		seconds = float64(r.Result.Cost.Messages) / r.Result.PublishRate
	}
	if seconds <= 0 {
		return math.NaN()
	}
	return percentOfCores(r, cpuSeconds/seconds)
}
