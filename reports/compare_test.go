package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// Of a sweep every workload says which values of the other axes it is of, also where only machines read.
func TestWorkloadsOfASweepAreToldApart(t *testing.T) {
	sweep := func(broker string) []store.Record {
		var records []store.Record
		for _, topics := range []string{"1", "16"} {
			records = append(records, altered(atRate(broker, 2), topics, func(r *store.Record) {
				r.Axes = map[string]string{"broker": broker, "topics": topics}
				r.Spec.Topics = map[string]int{"1": 1, "16": 16}[topics]
			})...)
		}
		return records
	}
	d := Compare(Side{"kafka", results.Of(sweep("kafka"))}, Side{"jetstream", results.Of(sweep("jetstream"))}, "broker")
	text := string(rendered(t, d, "markdown", 0))
	table := string(rendered(t, d, "csv", 0))
	for _, topics := range []string{"topics=1", "topics=16"} {
		title := "100 B, at-least-once, rate 1k/s, " + topics
		if !strings.Contains(text, "## "+title+"\n") {
			t.Errorf("no heading %q:\n%s", title, text)
		}
		if !strings.Contains(table, "\n\""+title+"\",") {
			t.Errorf("no rows of %q:\n%s", title, table)
		}
	}
}

// A comparison says which side is better at each of its metrics.
func TestEveryComparedMetricHasABetterDirection(t *testing.T) {
	for _, key := range slices.Concat(comparedMetrics, results.FromSend) {
		if results.MustMetric(key).Better == results.Neither {
			t.Errorf("neither side can be better at %s", key)
		}
	}
}
