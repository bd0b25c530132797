package page

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestThePageHoldsNoLatencyOfAClosedLoop(t *testing.T) {
	h := hist.New()
	h.Record(777e6)
	s := h.Snapshot()
	r := store.Record{PointID: "p", Status: store.OK, Spec: study.Spec{Broker: "kafka"}, Result: &store.Result{Measurement: store.Measurement{
		PublishRate: 5, Latency: store.Latency{EndToEnd: s, EndToEndService: s, Publish: s, Service: s, Lag: s},
		Series: []store.Tick{{EndToEndP50: 777e6, EndToEndP99: 777e6}, {EndToEndP50: 777e6, EndToEndP99: 777e6}},
	}}}
	for _, measure := range []string{"peak", "count", "backlog", "rate"} {
		r.Spec.Measure = measure
		d := figuresOf(results.Of([]store.Record{r}))
		text, err := json.Marshal([]any{d.LoadPoints, d.Runs})
		if err != nil {
			t.Fatal(err)
		}
		if held := strings.Contains(string(text), "77"); held != (measure == "rate") {
			t.Errorf("of a %s the page holds a latency: %v\n%s", measure, held, text)
		}
	}
}
