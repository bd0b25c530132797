package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestTheBestIsComparedWithTheMedianOfAllAlsoOfAnEvenNumber(t *testing.T) {
	var records []store.Record
	for i, rate := range []float64{4000, 3000, 1000, 500} {
		records = append(records, store.Record{
			PointID: fmt.Sprint(i), Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak"},
			Result: &store.Result{Measurement: store.Measurement{PublishRate: rate}},
		})
	}
	points := results.Of(records).Points
	s := sweep{metric: results.MustMetric(results.KeyPublishRate), points: points, best: points}
	if got := s.verdict().Finding; !strings.Contains(got, "4k/s, 2.00× the median of all.") {
		t.Errorf("got %q", got)
	}
}
