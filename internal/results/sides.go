package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// hasSides tells that the course of a record knows the generator's sides apart.
func hasSides(r store.Record) bool {
	return r.Result != nil && slices.ContainsFunc(r.Result.Series, func(t store.Tick) bool { return t.Sides != nil })
}

// side reads a figure of the sides. It is NaN before the meters were first read.
func side(of func(store.SidesTick) float64) func(Moment) float64 {
	return func(m Moment) float64 {
		if m.Sides == nil {
			return math.NaN()
		}
		return of(*m.Sides)
	}
}
