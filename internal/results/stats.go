package results

import (
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/floats"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Summary sums up the values of repetitions. Of 3, 1 and 8 the median is 3, within 1..8.
type Summary struct {
	N         int     // values; without any, Median, Low and High are NaN
	Median    float64 // the mean of the two in the middle if N is even
	Low, High float64
	// Confident reports whether Low..High holds the true median with 95 % confidence, whatever the distribution; that needs 6
	// values. Otherwise Low and High are just the smallest and the largest value.
	Confident bool
	// Summed reports that the values are counts of messages, which were added up: Median, Low and High are all the sum.
	Summed bool
	// ClockBound is the largest error of each value, either way, if it was taken by two clocks; 0 if by one.
	ClockBound float64
	// Above is how much higher the median may be because messages never came, so that their latencies are lower bounds, or
	// because of a search's open bound: 0 if it is known, and infinite if it has no upper bound.
	Above     float64
	highAbove float64 // of High, likewise
	Searched  bool    // Above comes from a search's open bound
	TooFew    bool    // a quantile with too few messages beyond it for any conclusion
}

// Summarize sums up values that must not be NaN, and assumes no distribution. Its interval lies between order statistics:
// the number of values below the true median is binomial with p = 1/2 (Conover, Practical Nonparametric Statistics, 3.2).
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	s := benchmath.AssumeNothing.Summary(sample(values), 1-verdict.Alpha)
	median := decimal(s.Center)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return Summary{N: len(values), Median: median, Low: slices.Min(values), High: slices.Max(values)}
	}
	return Summary{N: len(values), Median: median, Low: s.Lo, High: s.Hi, Confident: true}
}

// decimal is v without the noise of binary fractions: 0.15 + 0.08 is 0.22999999999999998. It keeps 15 digits, and all of a
// whole number.
func decimal(v float64) float64 {
	if v == math.Trunc(v) {
		return v
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64) // always a number
	return rounded
}

// sumOf sums up counts of messages by their sum.
func sumOf(counts []float64) Summary {
	if len(counts) == 0 {
		return Summarize(nil)
	}
	sum := floats.Sum(counts)
	return Summary{N: len(counts), Median: sum, Low: sum, High: sum, Summed: true}
}

// summarizeRatios is Summarize for positive ratios, with their medianRatio.
func summarizeRatios(ratios []float64) Summary {
	s := Summarize(ratios)
	s.Median = medianRatio(ratios)
	return s
}

// medianRatio is the median of positive ratios; NaN if there are none. Of an even number it is the geometric mean of the two
// in the middle, as the median of logarithms is: of 1/2 and 2 it is 1, and no change.
func medianRatio(ratios []float64) float64 {
	n := len(ratios)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(ratios))
	low, high := sorted[(n-1)/2], sorted[n/2]
	return low * math.Sqrt(high/low) // low itself if both are equal
}

// sample copies values, because the library sorts them.
func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// withMost is the summary of values that are lower bounds: mosts, in their order, are the upper bounds.
func (s Summary) withMost(values, mosts []float64) Summary {
	if slices.Equal(values, mosts) {
		return s
	}
	least, most := slices.Sorted(slices.Values(values)), slices.Sorted(slices.Values(mosts))
	n := len(least)
	s.Above = (most[(n-1)/2]+most[n/2])/2 - (least[(n-1)/2]+least[n/2])/2
	high := n - 1 // the place of High in the order of values
	for high > 0 && least[high] > s.High {
		high--
	}
	s.highAbove = most[high] - least[high]
	return s
}

// Truth is the interval that contains the median with certainty, given the errors of measurement: those of the clocks, of
// messages that never came, and of a search's open bound. Without errors, both ends are the median. A latency, the only figure
// with errors of clocks, is not below 0.
func (s Summary) Truth() (least, most float64) {
	return s.widened(s.Median, s.Median+s.Above)
}

// Bounds is the interval that is shown beside the median everywhere: Low..High, widened by the errors of measurement (see Truth).
func (s Summary) Bounds() (low, high float64) {
	return s.widened(s.Low, s.High+s.highAbove)
}

func (s Summary) widened(low, high float64) (float64, float64) {
	if s.ClockBound > 0 {
		return max(0, low-s.ClockBound), high + s.ClockBound
	}
	return low, high
}

// AtLeast reports whether the median is only a lower bound: more messages never came than lie beyond it.
func (s Summary) AtLeast() bool { return math.IsInf(s.Above, 1) }

// Format formats the median for people: "1.50 ms", or "≥ 1.50 ms" if it is a lower bound.
func (s Summary) Format(u unit.Unit) string {
	if s.AtLeast() {
		return u.Range(s.Median, math.Inf(1))
	}
	return u.Format(s.Median)
}

// Cell makes a cell of a summary. It is blank without values, and has no interval for a single value or a sum.
func (s Summary) Cell() document.Cell {
	low, high := s.Bounds()
	isBounded := low != s.Low || high != s.High || s.Above > 0
	if s.Searched && s.N > 0 {
		return document.Cell{Kind: document.Interval, Number: s.Median, Low: low, High: high}
	}
	switch {
	case s.N == 0:
		return document.Cell{}
	case !isBounded && (s.N == 1 || s.Summed):
		return document.Number(s.Median)
	}
	return document.Cell{Kind: document.Interval, Number: s.Median, Low: low, High: high, Bounded: isBounded, AtLeast: s.AtLeast()}
}

// RelativeHalfWidth is half the width of the 95 % interval as a share of the median: 0.05 if 95..105 holds a median of 100. It
// includes a search's open bound, but not the error of clocks. It is NaN with too few values for an interval, and if the median
// is 0, and infinite if an end is a lower bound.
func (s Summary) RelativeHalfWidth() float64 {
	if !s.Confident || s.Median == 0 {
		return math.NaN()
	}
	return (s.High + s.highAbove - s.Low) / 2 / math.Abs(s.Median)
}
