package reports

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// windowful are records of a measure whose every latency is 777 ms, on two brokers.
func windowful(measure string, rate float64) map[string][]store.Record {
	h := hist.New()
	for range 2000 {
		h.Record(777e6)
	}
	s := h.Snapshot()
	sides := map[string][]store.Record{}
	for _, r := range demo(5) {
		broker := r.Spec.Broker
		if broker != "kafka" && broker != "jetstream" || r.Spec.Delivery != "at-least-once" || r.Spec.Load.Rate != 1000 || r.Spec.MessageSize[0].Size != 100 || r.Status != store.OK {
			continue
		}
		result := *r.Result
		result.Latency = store.Latency{EndToEnd: s, EndToEndService: s, Publish: s, Service: s, Lag: s}
		result.Count, result.Backlog = &store.Count{TotalSeconds: 7}, &store.Backlog{DrainRate: 9}
		r.Result, r.Spec.Measure, r.Spec.Load.Rate = &result, measure, rate
		sides[broker] = append(sides[broker], r)
	}
	return sides
}

// A latency of a closed loop that a reader could see in any format would be 777 ms, 0.777 s or 777000000 ns.
func TestNoReportShowsTheLatencyOfAClosedLoop(t *testing.T) {
	for measure, rate := range map[string]float64{"peak": 0, "count": 0, "backlog": 0, "rate": 1000} {
		sides := windowful(measure, rate)
		all := append(sides["kafka"], sides["jetstream"]...)
		documents := map[string]document.Document{
			"compare": Compare(Side{"kafka", results.Of(sides["kafka"])}, Side{"jetstream", results.Of(sides["jetstream"])}, "broker"),
		}
		for _, name := range []string{"summary", "headtohead"} {
			documents[name] = build(t, name, all)
		}
		for name, d := range documents {
			for _, format := range render.Formats() {
				text := string(rendered(t, d, format, 100))
				if shown := strings.Contains(text, "777"); shown != (measure == "rate") {
					t.Errorf("%s of %s as %s: latency shown: %v\n%s", name, measure, format, shown, text)
				}
			}
			text := strings.ReplaceAll(string(rendered(t, d, "markdown", 0)), "\n", " ")
			if n := strings.Count(text, "are closed loops"); name != "headtohead" && (n == 1) == (measure == "rate") {
				t.Errorf("%s of %s says %d times why there is no latency", name, measure, n)
			}
		}
	}
}
