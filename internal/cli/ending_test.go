package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/reports"
)

func TestARunEndsWithWhatItWasMadeFor(t *testing.T) {
	killed := study.Spec{Faults: []study.Fault{{Do: "kill"}}}
	for _, c := range []struct {
		study   string
		spec    study.Spec
		records int
		want    string
	}{
		{"raje-2019", study.Spec{}, 3, "summary"}, // no claim is answered
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

func TestARunOfAStudyEndsWithTheClaimsThatItAnswers(t *testing.T) {
	paper, err := reports.ReadPaper("raje-2019")
	if err != nil {
		t.Fatal(err)
	}
	for sweep, want := range map[string]string{"throughput": "claims", "time-by-size": "summary"} {
		var points []study.Point
		var records []store.Record
		for _, p := range paper.Grid {
			if p.Axes["sweep"] != sweep || len(points) == mostRows {
				continue
			}
			result := &store.Result{Measurement: store.Measurement{PublishRate: 1000, ReceiveRate: 1000}} // no time that a count took
			points = append(points, p)
			records = append(records, store.Record{PointID: p.ID, Study: p.Study, Axes: p.Axes, Spec: p.Spec, Status: store.OK, Result: result})
		}
		if got := reportFor(points, results.Of(records)); got != want {
			t.Errorf("%s: %s, want %s", sweep, got, want)
		}
	}
}

func TestALineThatAnnouncesOthersEndsWithTheLastOfThem(t *testing.T) {
	for text, want := range map[string]string{
		"node 1 exited with code 1; its log ends:\n  starting\n  max_payload is too large\n": "node 1 exited with code 1; its log ends: max_payload is too large",
		"one":           "one",
		"one\ntwo":      "one",
		"its log ends:": "its log ends: ",
	} {
		if got := firstLine(text); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
