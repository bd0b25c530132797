package results

import (
	"slices"
	"testing"
)

func TestVariantsAreOrderedByWhatTheirValuesMeasure(t *testing.T) {
	want := []Variant{
		{{"batch", "16KiB"}, {"linger", "5ms"}},
		{{"batch", "16KiB"}, {"linger", "20ms"}},
		{{"batch", "16KiB"}, {"linger", "1s"}},
		{{"batch", "1MiB"}, {"linger", "0s"}},
		{{"batch", "1MiB"}, {"linger", "0s"}, {"topics", "2"}},
		{{"batch", "unset"}},
		{{"codec", "gzip"}},
		{{"codec", "snappy"}},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareVariants)
	if !slices.EqualFunc(got, want, func(a, b Variant) bool { return slices.Equal(a, b) }) {
		t.Errorf("got %v, want %v", got, want)
	}
}
