package reports

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestTheLimitOfEveryLoadIsInATableAndThoseThatKeptUpAreCounted(t *testing.T) {
	search := demo(1)[0]
	peak := search
	peak.PointID, peak.Spec.Measure, peak.Result = "peak", study.MeasurePeak, &store.Result{}
	peak.Result.Limits = store.Limits{{Cause: "disk", Seen: "the disk, vda, was busy for 61 % of the time"}}
	kept := search
	kept.PointID, kept.Spec.Measure, kept.Spec.Load.Rate, kept.Result = "rate", study.MeasureRate, 1000, &store.Result{}
	d := build(t, "explain", []store.Record{search, peak, kept})
	rows := d.Tables()[0].Rows
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range [][4]string{
		{"broker-thread", "one thread of the broker, worker-1, at 97 % of a core", "cpu", "the machine's 2 cores, of which broker (1.1) and generator (0.6) used 1.7"},
		{"none shown", "", "disk", "the disk, vda, was busy for 61 % of the time"},
	} {
		for k, key := range []string{"limit", "limit_seen", "next", "next_seen"} {
			if got := rows[i][key].Text; got != want[k] {
				t.Errorf("row %d: %s is %q, want %q", i, key, got, want[k])
			}
		}
	}
	if text := string(rendered(t, d, "markdown", 0)); !strings.Contains(text, "Not in the table: 1 load") {
		t.Errorf("what kept up is not counted: %s", text)
	}
}
