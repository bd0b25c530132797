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
