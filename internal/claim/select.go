package claim

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// Selector says by axis which measurements are meant: those whose value meets the criterion on every axis.
type Selector map[string]Criterion

// Criterion says which values of one axis are meant, in one of three ways: {Any: [1, 5]} means 1 and 5; {End: highest}
// means the highest value that was measured; {Bounds: 2 to 10, Not: [5]} means those from 2 to 10 but 5.
type Criterion struct {
	Any    []string // nil if the values are given in another way; an empty list means none
	End    End
	Bounds Range // anywhere if there are no bounds
	Not    []string
}

// End is an end of the values of an axis among what the rest of a selector leaves. It is empty if none is meant.
type End string

// Ends of an axis.
const (
	Lowest  End = "lowest"
	Highest End = "highest"
)

// choose keeps the samples, which are measurements, that are meant. It returns one at least, or why there is none. Their figures have
// confidence intervals that err with the probability alpha, unless it is 0.
func (s Selection) choose(all []sample, alpha float64) ([]sample, *undecided) {
	chosen := lists.Filter(all, func(one sample) bool {
		name, _ := one.value(sweepAxis)
		return len(s.Experiments) == 0 || slices.Contains(s.Experiments, name)
	})
	if len(chosen) == 0 {
		return nil, undecidedBecause(NothingMeasured, "nothing was measured of %s", strings.Join(s.Experiments, ", "))
	}
	ofExperiments := chosen
	chosen, why := s.Select.filter(chosen)
	if why != nil {
		return nil, why
	}
	chosen = atRates(chosen, s.At)
	if len(chosen) == 0 {
		return nil, undecidedBecause(NoFigure, "no rate of a curve is %s", s.At)
	}
	if alpha == 0 {
		return chosen, nil
	}
	return surely(chosen, atRates(ofExperiments, s.At), alpha), nil
}

// filter keeps the samples that meet all criteria. Ends come last, as the lowest x is meant of those with y=1.
func (s Selector) filter(samples []sample) ([]sample, *undecided) {
	var axes, axesOfEnds []string
	for _, axis := range slices.Sorted(maps.Keys(s)) {
		if s[axis].End == "" {
			axes = append(axes, axis)
		} else {
			axesOfEnds = append(axesOfEnds, axis)
		}
	}
	for _, axis := range slices.Concat(axes, axesOfEnds) {
		var why *undecided
		if samples, why = s[axis].filter(samples, axis); why != nil {
			return nil, why
		}
	}
	return samples, nil
}

// filter keeps the samples whose value on an axis meets the criterion.
func (c Criterion) filter(samples []sample, axis string) ([]sample, *undecided) {
	values := results.Values{}
	for _, s := range samples {
		if value, ok := s.value(axis); ok {
			values.Add(axis, value)
		}
	}
	measured := slices.SortedFunc(maps.Keys(values[axis]), results.CompareNames)
	if len(measured) == 0 {
		return nil, undecidedBecause(Misfit, "no point has an axis or a setting %q", axis)
	}
	meant := c.meantOf(measured)
	chosen := lists.Filter(samples, func(s sample) bool {
		value, ok := s.value(axis)
		return ok && slices.Contains(meant, value)
	})
	if len(chosen) == 0 {
		return nil, undecidedBecause(NothingMeasured, "no point has %s %s; there are %s",
			axis, c, strings.Join(results.Shorten(measured), ", "))
	}
	return chosen, nil
}

// meantOf lists the values that are meant of those that were measured.
func (c Criterion) meantOf(measured []string) []string {
	if c.End != "" {
		return c.End.of(measured)
	}
	var meant []string
	for _, value := range measured {
		isValue := func(other string) bool { return results.SameValue(other, value) }
		if c.Any != nil {
			if slices.ContainsFunc(c.Any, isValue) {
				meant = append(meant, value)
			}
			continue
		}
		n, isQuantity := results.Magnitude(value)
		isInBounds := !c.Bounds.Given() || (isQuantity && c.Bounds.From <= n && n <= c.Bounds.To)
		if isInBounds && !slices.ContainsFunc(c.Not, isValue) {
			meant = append(meant, value)
		}
	}
	return meant
}

// of lists the values that are the lowest or the highest quantity: one, several if it was written in several ways, such
// as 1024 and 1KiB, or none if no value is a quantity.
func (e End) of(measured []string) []string {
	var ends []string
	var extreme float64 // of ends
	for _, value := range measured {
		n, isQuantity := results.Magnitude(value)
		if !isQuantity {
			continue
		}
		isFirst := len(ends) == 0
		switch {
		case isFirst || (e == Lowest && n < extreme) || (e == Highest && n > extreme):
			ends, extreme = []string{value}, n
		case n == extreme:
			ends = append(ends, value)
		}
	}
	return ends
}

// String describes the values: "from 2 to 3 other than 2.5".
func (c Criterion) String() string {
	switch {
	case c.End != "":
		return string(c.End)
	case c.Any != nil:
		return strings.Join(c.Any, " or ")
	}
	var words []string
	hasFrom, hasTo := !math.IsInf(c.Bounds.From, -1), !math.IsInf(c.Bounds.To, 1)
	switch {
	case hasFrom && hasTo:
		words = append(words, "from "+withoutExponent(c.Bounds.From)+" to "+withoutExponent(c.Bounds.To))
	case hasFrom:
		words = append(words, "from "+withoutExponent(c.Bounds.From))
	case hasTo:
		words = append(words, "up to "+withoutExponent(c.Bounds.To))
	}
	if c.Not != nil {
		words = append(words, "other than "+strings.Join(c.Not, ", "))
	}
	return strings.Join(words, " ")
}
