package claim

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// figureOf sums up one figure of each repetition.
func figureOf(values []float64, u unit.Unit) Figure {
	s := results.Summarize(values)
	return Figure{s.Median, s.Low, s.High, s.N, u}
}

// quotient is a/b, within what any repetition of the one and any of the other make; none where b may be zero.
func quotient(a, b Figure) Figure {
	if a.N == 0 || b.N == 0 || b.Low <= 0 || a.Low < 0 {
		return Figure{Unit: unit.Factor}
	}
	return Figure{a.Value / b.Value, a.Low / b.High, a.High / b.Low, min(a.N, b.N), unit.Factor}
}

// pooled makes one figure of several. Every way is monotone in each of them, so the ends of the spread are those of the
// ends.
func pooled(how string, figures []Figure) Figure {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f Figure) bool { return f.N == 0 })
	if len(figures) == 0 {
		return Figure{}
	}
	out := Figure{N: figures[0].N, Unit: figures[0].Unit}
	var values, lows, highs []float64
	for _, f := range figures {
		values, lows, highs = append(values, f.Value), append(lows, f.Low), append(highs, f.High)
		out.N = min(out.N, f.N)
	}
	of := ways[how]
	out.Value, out.Low, out.High = of(values), of(lows), of(highs)
	return out
}

// ways are how several numbers become one.
var ways = map[string]func([]float64) float64{
	"max": slices.Max[[]float64], "min": slices.Min[[]float64], "mean": mean, "median": median,
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// slack is what rounding may add to a figure that lies on a bound.
const slack = 1e-9

// judge holds a figure against a range: it holds, or doesn't, only where every repetition says the same.
func (r Range) judge(f Figure) Verdict {
	if f.N == 0 {
		return CannotBeTold
	}
	from, to := r.From, r.To
	if !math.IsInf(from, 0) {
		from -= slack * math.Abs(from)
	}
	if !math.IsInf(to, 0) {
		to += slack * math.Abs(to)
	}
	switch {
	case f.Low >= from && f.High <= to:
		return Holds
	case f.High < from || f.Low > to:
		return DoesNotHold
	}
	return CannotBeTold
}

// both is the answer where two things have to hold.
func both(a, b Verdict) Verdict {
	switch {
	case a == DoesNotHold || b == DoesNotHold:
		return DoesNotHold
	case a == CannotBeTold || b == CannotBeTold:
		return CannotBeTold
	}
	return Holds
}

// line is the least-squares line through points.
type line struct{ slope, r2 float64 }

func fit(x, y []float64) line {
	mx, my := mean(x), mean(y)
	var sxx, sxy, syy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
		syy += (y[i] - my) * (y[i] - my)
	}
	l := line{slope: sxy / sxx, r2: 1}
	if syy > 0 {
		l.r2 = sxy * sxy / (sxx * syy)
	}
	return l
}

// slopeOf is within what the slope of a line lies whose points are any choice of repetitions: it is linear in every y, so
// its ends are at their ends.
//
//	slope = Σ w(i)·y(i)   with   w(i) = (x(i) − x̄) / Σ (x(j) − x̄)²
func slopeOf(x []float64, y []Figure) Figure {
	mx, sxx := mean(x), 0.0
	for _, v := range x {
		sxx += (v - mx) * (v - mx)
	}
	out := Figure{N: y[0].N}
	for i, f := range y {
		w := (x[i] - mx) / sxx
		out.Low += min(w*f.Low, w*f.High)
		out.High += max(w*f.Low, w*f.High)
		out.N = min(out.N, f.N)
	}
	return out
}
