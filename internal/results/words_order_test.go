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

func TestEqualQuantitiesAreOneValueOfASetting(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		order int
	}{
		{"1024", "1KiB", 0},
		{"5ms", "0.005s", 0},
		{"unset", "unset", 0},
		{"1KiB", "1023", 1},
		{"5ms", "20ms", -1},
		{"5ms", "unset", -1},
		{"gzip", "snappy", -1},
	} {
		if got := CompareValues(c.a, c.b); got != c.order || SameValue(c.a, c.b) != (c.order == 0) {
			t.Errorf("%s and %s: order %d, the same: %v; want order %d", c.a, c.b, got, SameValue(c.a, c.b), c.order)
		}
	}
}
