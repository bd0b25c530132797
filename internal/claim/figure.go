package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// Figure is a number with the spread of the repetitions behind it. Repetitions of 90, 100 and 104 messages/s make the
// Value 100, Low 90, High 104 and N 3. From six repetitions on, the spread is the 95 % interval of the median. The zero
// value is no figure.
type Figure struct {
	Value     float64
	Low, High float64 // the spread; of a single repetition both are the Value, unless its rate was searched for
	N         int     // the fewest repetitions of any point behind it; 0: there is no figure
	Unit      unit.Unit
}

func (f Figure) known() bool { return f.N > 0 }

// summarized makes a figure of a summary over repetitions. Errors of measurement widen its spread: a latency of which too many messages
// never came has no upper end.
func summarized(s results.Summary, u unit.Unit) Figure {
	low, high := s.Bounds()
	return Figure{Value: s.Median, Low: low, High: high, N: s.N, Unit: u}
}

// quotient returns the interval of a/b over all pairs of repetitions of a and b: 38 to 40, divided by 80 to 100, is
// 38/100 to 40/80. There is none if b may be zero, or if one of them may be negative.
func quotient(a, b Figure) Figure {
	bothKnown := a.known() && b.known()
	if !bothKnown || a.Low < 0 || b.Low <= 0 {
		return Figure{}
	}
	return Figure{Value: a.Value / b.Value, Low: a.Low / b.High, High: a.High / b.Low, N: min(a.N, b.N), Unit: unit.Factor}
}

// change returns the ratio f as a change: −0.3 for 0.7.
func (f Figure) change() Figure {
	if !f.known() {
		return f
	}
	return Figure{Value: f.Value - 1, Low: f.Low - 1, High: f.High - 1, N: f.N, Unit: unit.Share}
}

// poolings make one number of several, of which there is one at least. Each result rises with every one of the numbers,
// so the ends of a pooled interval are the pooled ends: the mean of 1 to 3 and 5 to 9 is 3 to 6.
var poolings = map[string]func([]float64) float64{
	poolMax: slices.Max[[]float64], poolMin: slices.Min[[]float64], poolMean: mean, poolMedian: median,
}

func mean(values []float64) float64 { return stat.Mean(values, nil) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// pooled makes one figure of those that are known, by a key of poolings. Without any there is none.
func pooled(pooling string, figures []Figure) Figure {
	figures = lists.Filter(figures, Figure.known)
	if len(figures) == 0 {
		return Figure{}
	}
	var values, lows, highs []float64
	for _, f := range figures {
		values, lows, highs = append(values, f.Value), append(lows, f.Low), append(highs, f.High)
	}
	pool, ok := poolings[pooling]
	if !ok {
		panic(fmt.Sprintf("claim: a pooling %q", pooling)) // Parse makes none
	}
	n := fewestRepetitions(figures)
	return Figure{Value: pool(values), Low: pool(lows), High: pool(highs), N: n, Unit: figures[0].Unit}
}

// oneAlone returns of how many figures, of n that are pooled, one alone may move an end of the result: the largest is at least what any of
// them shows. The median is moved by one of those on its side, if the others lie far away. A mean takes all of them.
func oneAlone(pooling string, n int) int {
	switch pooling {
	case poolMax, poolMin:
		return n
	case poolMedian:
		return n/2 + 1
	}
	return 1
}

// withEnds returns one of several figures that are pooled, with the ends of its wider interval where one of them alone may move the result.
func (f Figure) withEnds(pooling string, wider Figure) Figure {
	if pooling == poolMax || pooling == poolMedian {
		f.Low = wider.Low
	}
	if pooling == poolMin || pooling == poolMedian {
		f.High = wider.High
	}
	return f
}

// fewestRepetitions returns the least N of figures, which must not be empty.
func fewestRepetitions(figures []Figure) int {
	return slices.MinFunc(figures, func(a, b Figure) int { return cmp.Compare(a.N, b.N) }).N
}

// rangeOf returns the median of the figures that are known, from the lowest end to the highest end of any.
func rangeOf(figures []Figure) Figure {
	f := pooled(poolMedian, figures)
	for _, other := range figures {
		if other.known() {
			f.Low, f.High = min(f.Low, other.Low), max(f.High, other.High)
		}
	}
	return f
}

// Range is where a figure has to lie, both ends included.
type Range struct{ From, To float64 }

// anywhere is the range of a statement without bounds.
var anywhere = Range{From: math.Inf(-1), To: math.Inf(1)}

func atLeast(from float64) Range { return Range{From: from, To: math.Inf(1)} }
func atMost(to float64) Range    { return Range{From: math.Inf(-1), To: to} }

// Given reports whether r bounds anything.
func (r Range) Given() bool { return r != anywhere }

// slack is the share of a bound by which a figure may lie beyond it, because of rounding: in floating point 110/100 − 1
// is a little more than 0.1. Of a bound of 0 it is 0.
const slack = 1e-9

// judge reports whether f lies within r: Reproduced if its whole interval does, NotReproduced if none of it does.
func (r Range) judge(f Figure) Verdict {
	if !f.known() {
		return Undecided
	}
	from, to := r.From, r.To
	if !math.IsInf(from, 0) { // ∞ − ∞ is no number
		from -= slack * math.Abs(from)
	}
	if !math.IsInf(to, 0) {
		to += slack * math.Abs(to)
	}
	switch {
	case f.Low >= from && f.High <= to:
		return Reproduced
	case f.High < from || f.Low > to:
		return NotReproduced
	}
	return Undecided
}
