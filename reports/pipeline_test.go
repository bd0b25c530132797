package reports

import (
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

func TestThePipelinesOfAGroupHaveTheirOwnFiguresAndOtherPointsHaveNone(t *testing.T) {
	var times hist.Histogram
	times.Record(2e6)
	p := product{storetest.Product{Name: "redis", Version: "8.2", Client: "x@v1", Sustains: 1e5, P50: 1e6}}
	plain, piped := p.record(100, "at-least-once", 1000, 1), p.record(200, "at-least-once", 1000, 1)
	piped.Spec.Pipeline = &study.Pipeline{Servers: 1}
	piped.Result.Books.Sent = 1000
	piped.Result.Pipeline = &store.Pipeline{
		Response: times.Snapshot(), QueueMax: new(int64(70)), QueueBytes: new(int64(20 << 10)), ConsumerCapacity: new(0.98),
		Parts: []store.PipelinePart{{Name: "server", UserSeconds: 0.04, SystemSeconds: 0.02}, {Name: "consumer", PeakCPU: 0.61}},
	}
	points := results.Of([]store.Record{plain, piped}).Points
	table := pipelineTable(points, layoutOf(points))
	if len(table.Rows) != 1 {
		t.Fatalf("%d rows for one pipeline and one other point", len(table.Rows))
	}
	row := table.Rows[0]
	near := func(key string, want float64) {
		if got := row[key].Number; got < want*0.99 || got > want*1.01 {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	near("response_p99_ns", 2e6)
	near("queue_max", 70)
	near("queue_memory_bytes", 20<<10)
	near("consumer_capacity_pct", 98)
	near("server_cpu_us_per_request", 60)
	near("consumer_cpu_max_pct", 61)
	for _, c := range table.Columns {
		if _, ok := row[c.Key]; !ok {
			t.Errorf("no cell for the column %s", c.Key)
		}
	}
	if shown := summaryBlocks(t, plain, piped); shown != 1 {
		t.Errorf("the summary has the pipelines' table %d times", shown)
	}
}

// summaryBlocks counts the tables of pipelines in a summary.
func summaryBlocks(t *testing.T, records ...store.Record) (n int) {
	t.Helper()
	for _, b := range build(t, "summary", records).Blocks {
		if table, ok := b.(document.Table); ok && table.Title == pipelineTable(nil, layout{}).Title {
			n++
		}
	}
	return n
}
