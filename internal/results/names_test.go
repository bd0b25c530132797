package results

import (
	"slices"
	"testing"
)

func TestNamesAreInTheOrderOfTheirNumbers(t *testing.T) {
	want := []string{"", "kafka", "kafka size=", "kafka size=1", "kafka size=01KiB x=2", "kafka size=1KiB x=10", "kafka size=2KiB", "kafka size=16KiB", "nats", "nats-2", "nats2", "nats10", "natsx"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareNames)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestChartsOrderContendersByTheirNumbers(t *testing.T) {
	got := Names([]Point{{Name: "kafka, 16"}, {Name: "nats"}, {Name: "kafka, 2"}, {Name: "kafka, 16"}})
	if want := []string{"kafka, 2", "kafka, 16", "nats"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
