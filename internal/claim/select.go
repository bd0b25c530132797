package claim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// Selector says which points are meant: those that have the given values on every axis.
type Selector map[string]AxisValues

// AxisValues are the values of one axis that are meant. They are given in one of three ways: by a list (Any), as one End of the values that
// there are, or as those within bounds that are not in Not.
type AxisValues struct {
	Any      []string
	End      End
	From, To float64 // both included; NaN: unbounded on this side
	Not      []string
}

// End is an end of the values of an axis among the points that the rest of a selector leaves. It is empty if none is meant.
type End string

// Ends of an axis.
const (
	Lowest  End = "lowest"
	Highest End = "highest"
)

// choose keeps the samples of a selection, which are at least one.
func (s Selection) choose(all []sample) ([]sample, error) {
	var chosen []sample
	for _, one := range all {
		if name, _ := one.value(sweepAxis); len(s.Experiments) == 0 || slices.Contains(s.Experiments, name) {
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

// filter keeps the samples that have all values. Axes of which an end is meant come last: the lowest x with y=1 is not the lowest x.
func (s Selector) filter(samples []sample) ([]sample, error) {
	for _, isEnd := range []bool{false, true} {
		for _, axis := range slices.Sorted(maps.Keys(s)) {
			if (s[axis].End != "") != isEnd {
				continue
			}
			var err error
			if samples, err = s[axis].filter(samples, axis); err != nil {
				return nil, err
			}
		}
	}
	return samples, nil
}

// filter keeps the samples with these values on an axis.
func (v AxisValues) filter(samples []sample, axis string) ([]sample, error) {
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
	matches := v.match
	if v.End != "" {
		end, hasEnd := v.End.of(texts)
		matches = func(text string) bool { return hasEnd && results.SameValue(end, text) }
	}
	chosen := slices.DeleteFunc(slices.Clone(samples), func(s sample) bool {
		text, ok := s.value(axis)
		return !ok || !matches(text)
	})
	if len(chosen) == 0 {
		return nil, undecidedBecause(NothingMeasured, "no point has %s %s; there are %s", axis, v, strings.Join(results.Shorten(texts), ", "))
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

// match reports whether a value is in the list or, without a list, within the bounds and not excluded. Ends are not its concern.
func (v AxisValues) match(text string) bool {
	equal := func(want string) bool { return results.SameValue(want, text) }
	switch {
	case v.Any != nil:
		return slices.ContainsFunc(v.Any, equal)
	case slices.ContainsFunc(v.Not, equal):
		return false
	case math.IsNaN(v.From) && math.IsNaN(v.To):
		return true
	default:
		n, ok := results.Magnitude(text)
		return ok && !(n < v.From) && !(n > v.To) // NaN bounds nothing
	}
}

// String describes the values: "from 2 to 3".
func (v AxisValues) String() string {
	switch {
	case v.End != "":
		return string(v.End)
	case v.Any != nil:
		return strings.Join(v.Any, " or ")
	}
	var words []string
	if !math.IsNaN(v.From) {
		words = append(words, fmt.Sprintf("from %v", v.From))
	}
	if !math.IsNaN(v.To) {
		to := "to"
		if words == nil {
			to = "up to"
		}
		words = append(words, fmt.Sprintf("%s %v", to, v.To))
	}
	if v.Not != nil {
		words = append(words, "other than "+strings.Join(v.Not, ", "))
	}
	return strings.Join(words, " ")
}
