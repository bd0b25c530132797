package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// Without subscriptions, end-to-end latencies are dashes, and only the latency of publishing is known.
func TestWithoutSubscriptionsTheLatencyOfPublishingIsShownAndRanked(t *testing.T) {
	publishes := func(r *store.Record) {
		r.Spec.SubscriptionsPerTopic = 0
		r.Result.Latency.EndToEnd, r.Result.Latency.EndToEndService = hist.Snapshot{}, hist.Snapshot{}
	}
	var records []store.Record
	for _, broker := range []string{"kafka", "jetstream"} {
		records = append(records, altered(atRate(broker, 5), "", publishes)...)
	}
	d := build(t, "summary", records)
	var heads []string
	for _, c := range d.Tables()[0].Columns {
		if !c.MachinesOnly {
			heads = append(heads, c.Key)
		}
	}
	for _, key := range []string{results.KeyPublishP50, results.KeyPublishP99} {
		if !slices.Contains(heads, key) {
			t.Errorf("no column %s among %q", key, heads)
		}
	}
	if text := string(rendered(t, d, "terminal", 100)); !strings.Contains(text, "publish p99: jetstream") {
		t.Errorf("no verdict by the latency of publishing:\n%s", text)
	}
	d = build(t, "summary", atRate("kafka", 1))
	if i := slices.IndexFunc(d.Tables()[0].Columns, func(c document.Column) bool { return c.Key == results.KeyPublishP99 }); !d.Tables()[0].Columns[i].MachinesOnly {
		t.Error("with subscriptions people see the latency of publishing as well")
	}
}
