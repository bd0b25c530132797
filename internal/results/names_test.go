package results

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
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

func TestNamesThatDifferInLeadingZerosAreListedOnceEach(t *testing.T) {
	got := Names([]Point{{Name: "v01"}, {Name: "v1"}, {Name: "v01"}})
	if want := []string{"v01", "v1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestValuesInNamesAreOrderedByTheirMagnitudes(t *testing.T) {
	for _, want := range [][]string{
		{"0.25", "0.5", "0.75", "1"},
		{"kafka ratio=0.25", "kafka ratio=0.5"},
		{"kafka batch.size=16KiB", "kafka batch.size=1MiB"},
		{"16KiB", "1MiB", "5x"},
		{"-5", "-4", "3"},
		{"90s", "5m", "1h"},
		{"kafka@4.9.0", "kafka@4.10.0"},
	} {
		got := slices.Clone(want)
		slices.Reverse(got)
		slices.SortFunc(got, CompareNames)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheOrderOfNamesIsTotal(t *testing.T) {
	names := []string{
		"", "16KiB", "1MiB", "5x", "16", "016", "1.60e1", "x", "x=", "x=5", "x=5 y", "x=5x", "x=nan", "x=inf", "x=-inf", "x= 5", "0.5", "0.25", ".5",
		"a@4.10", "a@4.9", "a@4.9 x=1", "5ms", "5m", "90s", "1h", "zstd", "a=1=2", "5 apples",
	}
	for _, a := range names {
		for _, b := range names {
			if order := CompareNames(a, b); order != -CompareNames(b, a) || (order == 0) != (a == b) {
				t.Errorf("%q against %q: %d, the other way round %d", a, b, order, CompareNames(b, a))
			}
			for _, c := range names {
				if CompareNames(a, b) < 0 && CompareNames(b, c) < 0 && CompareNames(a, c) >= 0 {
					t.Errorf("%q < %q < %q, and yet %q does not come before %q", a, b, c, a, c)
				}
			}
		}
	}
}

// Charts give colours in the order of Names, tables list points in that of their parts: the two have to agree.
func TestNamesAreInTheOrderOfThePointsTheyName(t *testing.T) {
	var records []store.Record
	for _, batch := range []string{"1MiB", "unset", "16KiB", "5x", "0.5"} {
		for _, shape := range []string{"constant", "poisson"} {
			r := measured()
			r.PointID, r.Axes, r.Spec.Load.Shape = batch+shape, map[string]string{"window": batch}, shape
			records = append(records, r)
		}
	}
	points := Of(records).Points
	slices.SortFunc(points, ComparePoints)
	var want []string
	for _, p := range points {
		want = append(want, p.Name)
	}
	if got := Names(points); !slices.Equal(got, want) {
		t.Errorf("names %q, points %q", got, want)
	}
	if first, last := want[0], want[len(want)-1]; cmp.Or(first, last) == "" || len(want) != 10 {
		t.Error(fmt.Sprint(want))
	}
}
