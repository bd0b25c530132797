package results

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

func TestNoTwoPointsOfATableHaveTheSameName(t *testing.T) {
	var records []store.Record
	add := func(id, persistence string, replicas, seed int) {
		r := measured()
		r.PointID, r.Axes = id, map[string]string{"fault": "kill"}
		r.Spec.Persistence, r.Spec.Replicas, r.Spec.Seed = persistence, replicas, int64(seed)
		records = append(records, r)
	}
	add("a", "log", 1, 1)
	add("b", "fsync", 1, 1)
	add("c", "fsync", 3, 1)
	add("d", "fsync", 3, 2)
	var names []string
	for _, p := range pointsOf(records) {
		names = append(names, p.Name)
	}
	want := []string{
		"kafka persistence=fsync replicas=1 seed=1", "kafka persistence=fsync replicas=3 seed=1",
		"kafka persistence=fsync replicas=3 seed=2", "kafka persistence=log replicas=1 seed=1",
	}
	if !slices.Equal(names, want) {
		t.Errorf("names are %q, want %q", names, want)
	}
	if p := pointsOf(records[:1]); p[0].Name != "kafka" {
		t.Errorf("a point that nothing can be taken for is called %q", p[0].Name)
	}
}

func TestANameSaysNoMoreThanItTakesToTellPointsApart(t *testing.T) {
	var records []store.Record
	for i, persistence := range []string{"log", "fsync"} {
		r := measured()
		r.PointID, r.Spec.Persistence, r.Spec.Replicas, r.Spec.Seed = persistence, persistence, 1+i, int64(i)
		records = append(records, r)
	}
	for i, want := range []string{"kafka persistence=fsync", "kafka persistence=log"} {
		if got := pointsOf(records)[i].Name; got != want {
			t.Errorf("the name is %q, want %q", got, want)
		}
	}
}

// One study varies acks as an axis, another one without making it an axis.
func TestNamesOfSeveralStudiesDiffer(t *testing.T) {
	var records []store.Record
	add := func(id, acks string, seed int, axes map[string]string) {
		r := measured()
		r.PointID, r.Axes, r.Spec.Acks, r.Spec.Seed = id, axes, acks, int64(seed)
		records = append(records, r)
	}
	add("a", "1", 1, map[string]string{"acks": "1"})
	add("b", "all", 1, map[string]string{"acks": "all"})
	add("c", "1", 2, nil)
	add("d", "all", 2, nil)
	var names []string
	for _, p := range pointsOf(records) {
		names = append(names, p.Name)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(names))); len(unique) < len(records) {
		t.Errorf("names are %q", names)
	}
}
