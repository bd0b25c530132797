package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Of a sweep every workload says which values of the other axes it is of, also where only machines read.
func TestWorkloadsOfASweepAreToldApart(t *testing.T) {
	sweep := func(broker string) []store.Record {
		var records []store.Record
		for _, topics := range []string{"1", "16"} {
			records = append(records, altered(atRate(broker, 2), topics, func(r *store.Record) {
				r.Axes = map[string]string{"broker": broker, "topics": topics}
				if r.Spec.Topics = 1; topics == "16" {
					r.Spec.Topics, r.Spec.InFlight = 16, study.InFlight{Messages: 6250, Bytes: 4 << 20} // as is usual with so many
				}
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

// Where a side has several points of the same work, as one broker swept over a client setting has beside one that wasn't, each is
// compared by itself: what differs is no sample of one thing, and no point has the median of two.
func TestPointsThatDifferInASettingArePairedOneByOne(t *testing.T) {
	lingers := map[string]float64{"0": 1000, "5": 3000}
	var kafka []store.Record
	for linger, rate := range lingers {
		kafka = append(kafka, altered(atRate("kafka", 2), linger, func(r *store.Record) {
			r.Axes = map[string]string{"broker": "kafka", "client.linger.ms": linger}
			r.Spec.Client = map[string]any{"linger.ms": linger}
			r.Result.PublishRate = rate
		})...)
	}
	for name, sides := range map[string][2]Side{
		"second": {{"jetstream", results.Of(atRate("jetstream", 2))}, {"kafka", results.Of(kafka)}},
		"first":  {{"kafka", results.Of(kafka)}, {"jetstream", results.Of(atRate("jetstream", 2))}},
	} {
		pairs := Pairs(sides[0], sides[1], "broker")
		if len(pairs) != len(lingers) {
			t.Fatalf("%s: %d pairs, want one for each value of linger", name, len(pairs))
		}
		for _, p := range pairs {
			points := map[string][]results.Point{"second": p.B, "first": p.A}[name]
			linger := points[0].Records[0].Axes["client.linger.ms"]
			if len(points) != 1 || len(points[0].Records) != 2 || !strings.Contains(p.Title, "client.linger.ms="+linger) {
				t.Errorf("%s: %q is of %d points with linger %s first", name, p.Title, len(points), linger)
			}
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
