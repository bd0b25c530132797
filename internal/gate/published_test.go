package gate_test

import (
	"testing"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/reports"
)

func TestNoGateJudgesPublishedFigures(t *testing.T) {
	spec := study.Spec{Broker: "kafka", Measure: "peak"}
	paper := store.Record{
		PointID: "published-1", Kind: store.KindPublished, Status: store.Published, Spec: spec, Repetition: 1,
		Result: &store.Result{Given: map[string]float64{"publish_rate": 5}},
	}
	measured := store.Record{PointID: "1", Status: store.OK, Spec: spec, Repetition: 1, Result: &store.Result{Measurement: store.Measurement{PublishRate: 1000}}}
	c, err := gate.Parse("publish_rate < 10")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := gate.Judge(results.Of([]store.Record{paper, measured}), []gate.Condition{c})
	if len(verdicts) != 2 || gate.Failures(verdicts) != 0 {
		t.Fatalf("%+v", verdicts)
	}
	outcomes := map[gate.Outcome]string{}
	for _, v := range verdicts {
		outcomes[v.Outcome] = v.Text
	}
	if len(outcomes) != 2 || outcomes[gate.Passed] == "" || outcomes[gate.Skipped] != "published figures, not measured here: no gate judges them" {
		t.Errorf("%+v; want the paper skipped and the measurement passed", verdicts)
	}
	change, err := gate.ParseChange("publish_rate > 5%")
	if err != nil {
		t.Fatal(err)
	}
	pairs := reports.Pairs(reports.Side{Name: "published", Set: results.Of([]store.Record{paper})}, reports.Side{Name: "now", Set: results.Of([]store.Record{measured})}, "when")
	for _, v := range gate.Changes(pairs, []gate.Condition{change}, false) {
		if v.Outcome == gate.Passed {
			t.Errorf("judged: %+v", v)
		}
	}
}
