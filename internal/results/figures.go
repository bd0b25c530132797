package results

import "math"

// orNaN is a figure that a record may not have: NaN then.
func orNaN[N int64 | float64](figure *N) float64 {
	if figure == nil {
		return math.NaN()
	}
	return float64(*figure)
}

// divided is v divided by n; NaN if n is 0.
func divided[N int | int64](v float64, n N) float64 {
	if n == 0 {
		return math.NaN()
	}
	return v / float64(n)
}
