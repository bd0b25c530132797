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
type Selector map[string]Values

// Values are the values of one axis that are meant: those in Any, or one End of what there is, or else those within bounds that
// are not in Not.
type Values struct {
	Any      []string
	End      End
	From, To float64 // both included; NaN: unbounded on this side
	Not      []string
}

// End is an end of the values of an axis among the points that the rest of a selector leaves.
type End int

// Ends of an axis.
const (
	NoEnd   End = 0
	Lowest  End = -1
	Highest End = 1
)

// String is the end in the words of claims.yaml.
func (e End) String() string { return map[End]string{Lowest: "lowest", Highest: "highest"}[e] }

// undecidedError says why the records can't decide a statement. Every error of this package but those of Parse is one.
type undecidedError struct {
	reason Reason
	why    string
}

func (e *undecidedError) Error() string { return e.why }

func undecidedBecause(reason Reason, format string, args ...any) error {
	return &undecidedError{reason: reason, why: fmt.Sprintf(format, args...)}
}

// choose keeps the samples of a selection.
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
	chosen, err := s.Select.choose(chosen)
	if err != nil {
		return nil, err
	}
	chosen = atRates(chosen, s.At)
	if len(chosen) == 0 {
		return nil, undecidedBecause(NoFigure, "no rate of a curve is %s", s.At)
	}
	return chosen, nil
}

// choose keeps the samples that have all values. Ends come last, as they are the ends of what the other values leave.
func (s Selector) choose(samples []sample) ([]sample, error) {
	axes := slices.Sorted(maps.Keys(s))
	isEnd := func(axis string) bool { return s[axis].End != NoEnd }
	ends := slices.DeleteFunc(slices.Clone(axes), func(axis string) bool { return !isEnd(axis) })
	for _, axis := range append(slices.DeleteFunc(axes, isEnd), ends...) {
		var err error
		if samples, err = s[axis].choose(samples, axis); err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// choose keeps the samples with these values on an axis.
func (v Values) choose(samples []sample, axis string) ([]sample, error) {
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
	wanted := v
	if v.End != NoEnd {
		wanted = v.End.among(texts)
	}
	var chosen []sample
	for _, s := range samples {
		if text, ok := s.value(axis); ok && wanted.matches(text) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, undecidedBecause(NothingMeasured, "no point has %s %s; there are %s", axis, v, strings.Join(results.Shorten(texts), ", "))
	}
	return chosen, nil
}

// among is the lowest or highest of values. There is none if no value is a quantity.
func (e End) among(texts []string) Values {
	end := Values{Any: []string{}}
	var extreme float64
	for _, text := range texts {
		if n, ok := results.Magnitude(text); ok && (len(end.Any) == 0 || float64(e)*n > float64(e)*extreme) {
			end.Any, extreme = []string{text}, n
		}
	}
	return end
}

func (v Values) matches(text string) bool {
	equal := func(want string) bool { return sameValue(want, text) }
	switch {
	case v.Any != nil:
		return slices.ContainsFunc(v.Any, equal)
	case slices.ContainsFunc(v.Not, equal):
		return false
	case math.IsNaN(v.From) && math.IsNaN(v.To):
		return true
	}
	n, ok := results.Magnitude(text)
	return ok && !(n < v.From) && !(n > v.To) // NaN bounds nothing
}

// sameValue reports whether two values of an axis are equal or the same quantity, as 1024 and 1KiB are.
func sameValue(a, b string) bool {
	x, xOK := results.Magnitude(a)
	y, yOK := results.Magnitude(b)
	return a == b || (xOK && yOK && x == y)
}

// String describes the values: "from 2 to 3".
func (v Values) String() string {
	switch {
	case v.End != NoEnd:
		return v.End.String()
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
