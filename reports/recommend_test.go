package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Of two points one is faster and the other one cheaper; the others are worse than both.
func TestWhatNoOtherPointBeatsIsListedWithoutWhatOneBeats(t *testing.T) {
	var records []store.Record
	for i, p := range []struct{ rate, cpuSeconds float64 }{{4000, 8}, {3000, 2}, {2000, 9}, {1000, 9}} {
		linger := fmt.Sprint(i)
		records = append(records, store.Record{
			PointID: linger, Status: store.OK, Axes: map[string]string{"client.linger": linger},
			Spec: study.Spec{Broker: "kafka", Measure: "peak", MessageSize: study.Sizes{{Size: 100, Weight: 1}}, Client: map[string]any{"linger": linger}},
			Result: &store.Result{Measurement: store.Measurement{
				PublishRate: p.rate, Cost: store.Cost{BrokerKnown: true, BrokerUserSeconds: p.cpuSeconds, Messages: 1_000_000},
			}},
		})
	}
	d := build(t, "recommend", records)
	for _, table := range d.Tables() {
		if strings.HasPrefix(table.Title, "What no other point beats") {
			var lingers []string
			for _, row := range table.Rows {
				lingers = append(lingers, row["axis:client.linger"].Text)
			}
			if !slices.Equal(lingers, []string{"0", "1"}) {
				t.Errorf("linger %q, want those of the fastest and of the cheapest", lingers)
			}
			return
		}
	}
	t.Errorf("no such table in %v", d.Tables())
}

func TestTheBestIsComparedWithTheMedianOfAllAlsoOfAnEvenNumber(t *testing.T) {
	var records []store.Record
	for i, rate := range []float64{4000, 3000, 1000, 500} {
		records = append(records, store.Record{
			PointID: fmt.Sprint(i), Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak"},
			Result: &store.Result{Measurement: store.Measurement{PublishRate: rate}},
		})
	}
	points := results.Of(records).Points
	s := sweep{metric: results.MustMetric(results.KeyPublishRate), points: points, ranked: points}
	if got := s.verdict().Finding; !strings.Contains(got, "4k/s, 2.00× the median of all.") {
		t.Errorf("got %q", got)
	}
}
