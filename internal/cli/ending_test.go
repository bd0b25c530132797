package cli

import (
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestARunEndsWithWhatItWasMadeFor(t *testing.T) {
	killed := study.Spec{Faults: []study.Fault{{Do: "kill"}}}
	for _, c := range []struct {
		study   string
		spec    study.Spec
		records int
		want    string
	}{
		{"raje-2019", study.Spec{}, 100, "claims"},
		{"head-to-head", study.Spec{}, mostRows, "summary"},
		{"head-to-head", study.Spec{}, mostRows + 1, "verdicts"},
		{"of somebody's own", study.Spec{}, 1, "summary"},
		{"proof", killed, 100, "promise"},
	} {
		var points []study.Point
		var records []store.Record
		for i := range c.records {
			id := fmt.Sprint(i)
			points = append(points, study.Point{ID: id, Study: c.study, Spec: c.spec})
			records = append(records, store.Record{PointID: id, Study: c.study, Spec: c.spec, Status: store.OK})
		}
		if got := reportFor(points, results.Of(records)); got != c.want {
			t.Errorf("%s, %d points: %s, want %s", c.study, c.records, got, c.want)
		}
	}
}
