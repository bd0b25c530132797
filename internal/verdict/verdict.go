// Package verdict holds the one rule by which the program says whether two samples differ. A sample has a value for each
// repetition, and each value is an interval, because a measurement may bound a figure instead of giving it: a search ends
// between two rates, messages that never came make a latency a lower bound, and two clocks agree only so far.
//
//	nats := verdict.Sample{verdict.Exactly(10), verdict.Exactly(11), verdict.Exactly(10.5)}
//	kafka := verdict.Sample{verdict.Exactly(20), verdict.Exactly(21), verdict.Exactly(19.5)}
//	r := verdict.Compare(nats, kafka, verdict.Pool(nats, kafka))
//	fmt.Println(r.Answer, r.Estimate, r.Low, r.High) // differs 1.9 1.8 2.0: kafka's figure is about twice that of nats
//
// The answer comes from the interval of the ratio of the two figures, which has three sources: the bounds of the values,
// the spread of the repetitions, and Student's t distribution on a logarithmic scale. Without two repetitions there is no spread,
// and the answer is Undecided. At most 5 % of the answers Differs and DoesNotDiffer are wrong (a test simulates it).
//
// The package knows no record, metric or broker.
package verdict

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/brokermark/brokermark/internal/lists"
)

const (
	// Alpha is the largest share of the decided answers of a family of comparisons that may be wrong. A single interval errs as often.
	Alpha = 0.05
	// Small is the largest change, as a share, that counts as none: DoesNotDiffer says that it is no larger. A search leaves as much open.
	Small = 0.10
	// leastSpread is the least spread that is believed, as a share. Histograms and searches give equal values for figures
	// that differ by less.
	leastSpread = 0.005
	// unequalSpreads is the p value of Bartlett's test below which spreads are not pooled.
	unequalSpreads = 0.1
	// Enough is how many repetitions two samples need for that test to notice that one scatters more, and so the least with which
	// they decide more than by an order of magnitude.
	Enough = 3
	// enoughPairs is from how many repetitions on those of two samples that were measured together are compared in pairs. With fewer the
	// half of the degrees of freedom that pairs leave costs more than it gains to leave out what disturbed both (a test simulates it).
	enoughPairs = 5
)

// Value is a figure of one repetition: At is the figure that is shown, and the true one lies within Low..High, which are at least 0.
// High is +Inf if At is only a lower bound.
type Value struct {
	At, Low, High float64
	// Draw is the seed that contenders share in one repetition of an experiment, 0 if it is not known, and Began when this one began: by
	// both a value of one sample is found to be measured together with one of another.
	Draw  int64
	Began time.Time
}

// Exactly is a value without errors of measurement.
func Exactly(v float64) Value { return Value{At: v, Low: v, High: v} }

// Sample is the values of a figure over repetitions.
type Sample []Value

// logs are the logarithms of one end of all values. ok is false if one of them is not finite.
func (s Sample) logs(end func(Value) float64) (logs []float64, ok bool) {
	ok = len(s) > 0
	for _, v := range s {
		logs = append(logs, math.Log(end(v)))
		ok = ok && !math.IsInf(logs[len(logs)-1], 0) && end(v) > 0
	}
	return logs, ok
}

func low(v Value) float64  { return v.Low }
func high(v Value) float64 { return v.High }

// ends returns the means of the logarithms of the low and of the high ends: but for the spread, the true mean lies between them.
// With a value of exactly 0, which has no logarithm, nothing is known of the mean.
func (s Sample) ends() (lowEnd, highEnd float64) {
	lowEnd, highEnd = math.Inf(-1), math.Inf(1)
	if logs, ok := s.logs(low); ok {
		lowEnd = mean(logs)
	}
	if logs, ok := s.logs(high); ok {
		highEnd = mean(logs)
	}
	return lowEnd, highEnd
}

func mean(values []float64) float64 { return stat.Mean(values, nil) }

// Median is the median of the figures that are shown; NaN without any.
func (s Sample) Median() float64 { return s.median(func(v Value) float64 { return v.At }) }

func (s Sample) median(of func(Value) float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	values := lists.Map(s, of)
	slices.Sort(values)
	lower, upper := values[(len(values)-1)/2], values[len(values)/2]
	return (lower + upper) / 2
}

// Interval is the confidence interval of the figure behind a sample, outside of which the figure lies with the probability alpha. It reaches
// from 0 to +Inf without a spread.
func (s Sample) Interval(pooled Spread, alpha float64) (lowEnd, highEnd float64) {
	scatter := s.spread()
	if pooled.Known() {
		scatter = Spread{SD: max(pooled.SD, scatter.SD), DF: pooled.DF}
	}
	if len(s) == 0 || !scatter.Known() {
		return 0, math.Inf(1)
	}
	margin := scatter.quantile(alpha) * scatter.sd() / math.Sqrt(float64(len(s)))
	lowEnd, highEnd = s.ends()
	median := s.Median()
	return min(median, math.Exp(lowEnd-margin)), max(median, math.Exp(highEnd+margin))
}

// Spread is how much the repetitions of a figure scatter: the standard deviation of their natural logarithms, about the share by which
// they differ from their mean, and its degrees of freedom. The zero value is no estimate.
type Spread struct{ SD, DF float64 }

// Known reports whether there is an estimate.
func (s Spread) Known() bool { return s.DF > 0 }

func (s Spread) sd() float64 { return max(s.SD, leastSpread) }

// t is Student's distribution with the degrees of freedom of the spread.
func (s Spread) t() distuv.StudentsT { return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: s.DF} }

// quantile is how many standard errors an interval reaches either way that errs with the probability alpha.
func (s Spread) quantile(alpha float64) float64 { return s.t().Quantile(1 - alpha/2) }

// spread is the sample's own estimate: of the ends of its values the one that scatters more. It is unknown with fewer than two values,
// and if neither end has logarithms.
func (s Sample) spread() Spread {
	if len(s) < 2 {
		return Spread{}
	}
	scatter := Spread{DF: float64(len(s) - 1)}
	known := false
	for _, end := range []func(Value) float64{low, high} {
		logs, ok := s.logs(end)
		if !ok {
			continue
		}
		known = true
		scatter.SD = max(scatter.SD, stat.StdDev(logs, nil))
	}
	if !known {
		return Spread{}
	}
	return scatter
}

// Pool estimates one spread from several samples of an experiment, whose repetitions are taken to scatter alike. It is unknown
// unless two samples have the repetitions that it takes to check that, and if the check shows that they don't. Three repetitions of
// twelve brokers make an estimate with 24 degrees of freedom, while those of two brokers make one with 4.
func Pool(samples ...Sample) Spread {
	var each []Spread
	var pooled Spread
	checkable := 0
	for _, s := range samples {
		one := s.spread()
		if !one.Known() {
			continue
		}
		if len(s) >= Enough {
			checkable++
		}
		each = append(each, one)
		pooled.SD += one.DF * one.sd() * one.sd()
		pooled.DF += one.DF
	}
	if checkable < 2 {
		return Spread{}
	}
	pooled.SD = math.Sqrt(pooled.SD / pooled.DF)
	if bartlett(each, pooled) < unequalSpreads {
		return Spread{}
	}
	return pooled
}

// bartlett is the p value of Bartlett's test of equal spreads (Bartlett, Proceedings of the Royal Society A 160, 1937). It takes
// logarithms for normal, and shows a difference more often where they are not.
func bartlett(each []Spread, pooled Spread) float64 {
	statistic, correction := 0.0, -1/pooled.DF
	for _, s := range each {
		statistic += 2 * s.DF * math.Log(pooled.SD/s.sd())
		correction += 1 / s.DF
	}
	others := float64(len(each) - 1)
	statistic /= 1 + correction/(3*others)
	return distuv.ChiSquared{K: others}.Survival(max(0, statistic))
}
