package results

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

func TestWhatOnePointLacksIsUnset(t *testing.T) {
	with, without := measured(), measured()
	with.PointID, without.PointID = "a", "b"
	with.Axes, without.Axes = nil, nil
	with.Spec.Client, without.Spec.Client = map[string]any{"window": 5}, nil
	var names []string
	for _, p := range pointsOf([]store.Record{with, without}) {
		names = append(names, p.Name)
	}
	if want := []string{"kafka client.window=5", "kafka client.window=unset"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

// Such records can't be stored, but no report may fall over them.
func TestWhatIsNoJSONIsNamed(t *testing.T) {
	r := measured()
	r.Settings.Client = map[string]any{"f": func() {}}
	if got := new(factCache).ofRecord(r)["settings"]; !strings.Contains(got, "unsupported type") {
		t.Errorf("settings are %q", got)
	}
	r.Spec.Measure, r.Spec.Load.Rate = "rate", math.NaN()
	if got := LoadID(r.Spec); !strings.Contains(got, "unsupported value") {
		t.Errorf("the load is %q", got)
	}
}

func TestAShapeThatAllLoadsHaveIsInNoName(t *testing.T) {
	var records []store.Record
	for _, broker := range []string{"kafka", "nats"} {
		r := swept(broker, 100, 10, nil)
		r.Spec.Load.Shape = "poisson"
		records = append(records, r)
	}
	for _, p := range pointsOf(records) {
		if p.Name != p.Spec.Broker {
			t.Errorf("%s is called %q", p.Spec.Broker, p.Name)
		}
	}
}
