package render

import (
	"math"
	"slices"
)

// scale places the figures of a chart on a track from 0 % to 100 %. It is linear from zero to the largest figure or bound, unless half of
// the bars would be too short to compare, because a few figures are far larger. Then it is logarithmic, and its ends are powers of ten:
// 1, 2, 3 and 500 ms would end at 0.2, 0.4, 0.6 and 100 % of a linear scale, and are at 0, 10, 16 and 90 % of one from 1 ms to 1 s.
type scale struct {
	logarithmic bool
	from, to    float64 // the figures at 0 % and at 100 %; both are zero if there are no figures
}

// shortMedian is the share of the track below which a median bar is too short to be compared with others.
const shortMedian = 1.0 / 30

// rounding is more than the error of [math.Log10], which gives 2.9999999999999996 for 1000 on some processors.
const rounding = 1e-9

// newScale is the scale for figures, none of them below zero, and for the upper bounds of those that have one.
func newScale(figures, upperBounds []float64) scale {
	if len(figures) == 0 {
		return scale{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	least, median := sorted[0], sorted[len(sorted)/2]
	most := slices.Max(slices.Concat(figures, upperBounds))
	if least == 0 || median >= shortMedian*most { // zero has no place on a logarithmic scale
		return scale{to: most}
	}
	below := math.Pow10(int(math.Floor(math.Log10(least) + rounding)))
	above := math.Pow10(int(math.Ceil(math.Log10(most) - rounding)))
	return scale{logarithmic: true, from: max(below, math.SmallestNonzeroFloat64), to: min(above, math.MaxFloat64)}
}

// decades is the number of powers of ten between the ends of a logarithmic scale.
func (s scale) decades() float64 { return math.Log10(s.to) - math.Log10(s.from) }

// percent is where v lies between from and to. The latter must not be zero.
func (s scale) percent(v float64) float64 {
	if s.logarithmic {
		return 100 * (math.Log10(max(v, s.from)) - math.Log10(s.from)) / s.decades()
	}
	return 100 * v / s.to
}
