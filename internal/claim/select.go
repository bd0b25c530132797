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

// gap is why a statement can't be decided.
type gap struct {
	reason Reason
	why    string
}

func newGap(reason Reason, format string, args ...any) *gap {
	return &gap{reason: reason, why: fmt.Sprintf(format, args...)}
}

// part is the answer to a statement that can't be decided.
func (g *gap) part() Part { return Part{Verdict: CannotBeTold, Reason: g.reason, Why: g.why} }

// from are the samples of a selection.
func (s Selection) from(all []sample) ([]sample, *gap) {
	var chosen []sample
	for _, one := range all {
		if name, _ := one.value(sweepAxis); len(s.Experiments) == 0 || slices.Contains(s.Experiments, name) {
			chosen = append(chosen, one)
		}
	}
	if len(chosen) == 0 {
		return nil, newGap(NothingMeasured, "nothing was measured of %s", strings.Join(s.Experiments, ", "))
	}
	chosen, missing := s.Select.from(chosen)
	if missing != nil {
		return nil, missing
	}
	chosen = atLoads(chosen, s.At)
	if len(chosen) == 0 {
		return nil, newGap(NoFigure, "no rate of a curve is %s", s.At)
	}
	return chosen, nil
}

// from keeps the samples that have all values. Ends come last, as they are the ends of what the other values leave.
func (s Selector) from(samples []sample) ([]sample, *gap) {
	axes := slices.Sorted(maps.Keys(s))
	isEnd := func(axis string) bool { return s[axis].End != NoEnd }
	ends := slices.DeleteFunc(slices.Clone(axes), func(axis string) bool { return !isEnd(axis) })
	for _, axis := range append(slices.DeleteFunc(axes, isEnd), ends...) {
		var missing *gap
		if samples, missing = s[axis].from(samples, axis); missing != nil {
			return nil, missing
		}
	}
	return samples, nil
}

// from keeps the samples with these values on an axis.
func (v Values) from(samples []sample, axis string) ([]sample, *gap) {
	measured := results.Values{}
	for _, s := range samples {
		if text, ok := s.value(axis); ok {
			measured.Add(axis, text)
		}
	}
	texts := slices.SortedFunc(maps.Keys(measured[axis]), results.CompareNames)
	if len(texts) == 0 {
		return nil, newGap(Misfit, "no point has an axis or a setting %q", axis)
	}
	wanted := v
	if v.End != NoEnd {
		wanted = v.End.of(texts)
	}
	var chosen []sample
	for _, s := range samples {
		if text, ok := s.value(axis); ok && wanted.match(text) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, newGap(NothingMeasured, "no point has %s %s; there are %s", axis, v, strings.Join(results.Shorten(texts), ", "))
	}
	return chosen, nil
}

// of is the end's value among texts. It is no value if none measures anything.
func (e End) of(texts []string) Values {
	end := Values{Any: []string{}}
	var extreme float64
	for _, text := range texts {
		if n, ok := results.Magnitude(text); ok && (len(end.Any) == 0 || float64(e)*n > float64(e)*extreme) {
			end.Any, extreme = []string{text}, n
		}
	}
	return end
}

func (v Values) match(text string) bool {
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

// sameValue tells whether two values of an axis are equal or measure the same, as 1024 and 1KiB do.
func sameValue(a, b string) bool {
	x, xOK := results.Magnitude(a)
	y, yOK := results.Magnitude(b)
	return a == b || xOK && yOK && x == y
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
