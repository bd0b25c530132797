// The scale that the bars of a chart share.

package render

import (
	"math"
	"slices"
)

// scale places figures between the ends of a track.
type scale struct {
	from float64 // 0 if the scale is linear; else it is logarithmic, and both ends are powers of ten
	to   float64
}

// shortMedian is the share of the longest bar below which a median bar is too short to be compared with others.
const shortMedian = 1.0 / 30

const (
	// smallest is the least figure of a logarithmic scale. Zero has no place on one, and the ratio of a large figure to a smaller one than
	// this may be too large for a float64.
	smallest = 1e-150
	// rounding is more than the error of [math.Log10], which gives 2.9999999999999996 for 1000 on some processors.
	rounding = 1e-9
)

// newScale is linear from zero to the largest figure or bound. Where that would leave no length for half of the bars, because a few figures
// are far larger, it is logarithmic: 1, 2, 3 and 500 ms on a scale from 1 ms to 1 s.
func newScale(figures, bounds []float64) scale {
	if len(figures) == 0 {
		return scale{}
	}
	figures = slices.Sorted(slices.Values(figures))
	least, median, most := figures[0], figures[len(figures)/2], figures[len(figures)-1]
	most = max(most, slices.Max(append(bounds, most)))
	if least < smallest || median >= shortMedian*most {
		return scale{to: most}
	}
	return scale{
		from: math.Pow10(int(math.Floor(math.Log10(least) + rounding))),
		to:   math.Pow10(int(math.Ceil(math.Log10(most) - rounding))),
	}
}

func (s scale) logarithmic() bool { return s.from > 0 }

// decades is the number of powers of ten between the ends of a logarithmic scale.
func (s scale) decades() float64 { return math.Log10(s.to / s.from) }

// percent is where v lies between the ends.
func (s scale) percent(v float64) float64 {
	if s.logarithmic() {
		return 100 * math.Log10(max(v, s.from)/s.from) / s.decades()
	}
	return 100 * v / s.to
}
