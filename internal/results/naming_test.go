package results

import (
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Repetitions run in the order of a shuffle; tables list versions and shapes in an order of their own.
func TestPointsOfOneWorkloadAreInTheOrderOfTheirNames(t *testing.T) {
	var records []store.Record
	for _, version := range []string{"4.10.0", "4.9.0"} {
		for _, shape := range []string{"poisson", "constant"} {
			for _, window := range []string{"16", "2"} {
				r := measured()
				r.PointID, r.Axes = version+shape+window, map[string]string{"window": window}
				r.Spec.Version, r.Spec.Load.Shape = version, shape
				records = append(records, r)
			}
		}
	}
	var got []string
	for _, p := range Of(records).Points {
		got = append(got, p.Name)
	}
	want := []string{
		"kafka@4.9.0 window=2", "kafka@4.9.0 window=16", "kafka@4.9.0 poisson window=2", "kafka@4.9.0 poisson window=16",
		"kafka@4.10.0 window=2", "kafka@4.10.0 window=16", "kafka@4.10.0 poisson window=2", "kafka@4.10.0 poisson window=16",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A name says in what points of the whole set differ, so that equal settings are seen to be equal across brokers.
func TestASettingIsInAllNamesIfAnyPointsDifferInIt(t *testing.T) {
	a, b := measured(), measured()
	a.PointID, a.Axes = "a", map[string]string{"linger": "0"}
	b.PointID, b.Axes, b.Spec.Broker = "b", map[string]string{"linger": "5"}, "nats"
	points := Of([]store.Record{a, b}).Points
	if points[0].Name != "kafka linger=0" || points[1].Name != "nats linger=5" {
		t.Errorf("%q and %q", points[0].Name, points[1].Name)
	}
}

// A setting whose value is the word for one that isn't given can't tell two points apart, however often it is added.
func TestNamingEndsThoughAValueIsTheWordForNone(t *testing.T) {
	var records []store.Record
	for id, client := range map[string]map[string]any{"a": nil, "b": {"mode": "unset"}} {
		records = append(records, store.Record{PointID: id, Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak", Client: client}})
	}
	named := make(chan []Point, 1)
	go func() { named <- Of(records).Points }()
	select {
	case points := <-named:
		if len(points) != 2 || points[0].Name != "kafka client.mode=unset" {
			t.Errorf("%+v", points)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("points are still being named")
	}
}
