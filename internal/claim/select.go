package claim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// Selector says by axis which measurements are meant: those whose value meets the criterion on every axis.
type Selector map[string]Criterion

// Criterion says which values of one axis are meant, in one of three ways: {Any: [1, 5]} means 1 and 5; {End: highest}
// means the highest value that was measured; {From: 2, To: 10, Not: [5]} means those from 2 to 10 but 5.
type Criterion struct {
	Any      []string // nil if the values are given in another way; an empty list means none
	End      End
	From, To float64 // both included; NaN: no bound
	Not      []string
}

// End is an end of the values of an axis among what the rest of a selector leaves. It is empty if none is meant.
type End string

// Ends of an axis.
const (
	Lowest  End = "lowest"
	Highest End = "highest"
)

// choose keeps the samples, which are measurements, that are meant. It returns one at least, or an error.
func (s Selection) choose(all []sample) ([]sample, error) {
	var chosen []sample
	for _, one := range all {
		name, _ := one.value(sweepAxis)
		if len(s.Experiments) == 0 || slices.Contains(s.Experiments, name) {
			chosen = append(chosen, one)
		}
	}
	if len(chosen) == 0 {
		return nil, undecidedBecause(NothingMeasured, "nothing was measured of %s", strings.Join(s.Experiments, ", "))
	}
	chosen, err := s.Select.filter(chosen)
	if err != nil {
		return nil, err
	}
	chosen = atRates(chosen, s.At)
	if len(chosen) == 0 {
		return nil, undecidedBecause(NoFigure, "no rate of a curve is %s", s.At)
	}
	return chosen, nil
}

// filter keeps the samples that meet all criteria. Ends come last, as the lowest x is meant of those with y=1.
func (s Selector) filter(samples []sample) ([]sample, error) {
	var axes, axesOfEnds []string
	for _, axis := range slices.Sorted(maps.Keys(s)) {
		if s[axis].End == "" {
			axes = append(axes, axis)
		} else {
			axesOfEnds = append(axesOfEnds, axis)
		}
	}
	for _, axis := range slices.Concat(axes, axesOfEnds) {
		var err error
		if samples, err = s[axis].filter(samples, axis); err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// filter keeps the samples whose value on an axis meets the criterion.
func (c Criterion) filter(samples []sample, axis string) ([]sample, error) {
	measured := results.Values{}
	for _, s := range samples {
		if text, ok := s.value(axis); ok {
			measured.Add(axis, text)
		}
	}
	texts := slices.SortedFunc(maps.Keys(measured[axis]), results.CompareNames)
	if len(texts) == 0 {
		return nil, undecidedBecause(Misfit, "no point has an axis or a setting %q", axis)
	}
	matches := c.match
	if c.End != "" {
		end, hasEnd := c.End.of(texts)
		matches = func(text string) bool { return hasEnd && results.SameValue(end, text) }
	}
	chosen := slices.DeleteFunc(slices.Clone(samples), func(s sample) bool {
		text, ok := s.value(axis)
		return !ok || !matches(text)
	})
	if len(chosen) == 0 {
		return nil, undecidedBecause(NothingMeasured, "no point has %s %s; there are %s",
			axis, c, strings.Join(results.Shorten(texts), ", "))
	}
	return chosen, nil
}

// of is the lowest or the highest of the values that are quantities. It is not ok if none is.
func (e End) of(texts []string) (end string, ok bool) {
	var extreme float64
	for _, text := range texts {
		n, isQuantity := results.Magnitude(text)
		isBeyond := (e == Lowest && n < extreme) || (e == Highest && n > extreme)
		if isQuantity && (!ok || isBeyond) {
			end, extreme, ok = text, n, true
		}
	}
	return end, ok
}

// match reports whether a value is in the list or, without a list, within the bounds and not excluded. It ignores End.
func (c Criterion) match(text string) bool {
	equal := func(want string) bool { return results.SameValue(want, text) }
	switch {
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, equal)
	case slices.ContainsFunc(c.Not, equal):
		return false
	case !c.hasBounds():
		return true
	default:
		n, isQuantity := results.Magnitude(text)
		isBelow, isAbove := n < c.From, n > c.To // false without the bound: no number is below or above NaN
		return isQuantity && !isBelow && !isAbove
	}
}

func (c Criterion) hasBounds() bool { return !math.IsNaN(c.From) || !math.IsNaN(c.To) }

// String describes the values: "from 2 to 3 other than 2.5".
func (c Criterion) String() string {
	switch {
	case c.End != "":
		return string(c.End)
	case c.Any != nil:
		return strings.Join(c.Any, " or ")
	}
	var words []string
	hasFrom, hasTo := !math.IsNaN(c.From), !math.IsNaN(c.To)
	if hasFrom {
		words = append(words, fmt.Sprintf("from %v", c.From))
	}
	switch {
	case hasFrom && hasTo:
		words = append(words, fmt.Sprintf("to %v", c.To))
	case hasTo:
		words = append(words, fmt.Sprintf("up to %v", c.To))
	}
	if c.Not != nil {
		words = append(words, "other than "+strings.Join(c.Not, ", "))
	}
	return strings.Join(words, " ")
}
