package results

import (
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

func TestLatenciesFromTheSendAloneAreKnownAsSuch(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*store.Record)
		want   bool
	}{
		"imported": {func(r *store.Record) {
			r.Result.Latency.EndToEnd, r.Result.Latency.Publish = hist.Snapshot{}, hist.Snapshot{}
		}, true},
		"confirmations from their time": {func(r *store.Record) { r.Result.Latency.EndToEnd = hist.Snapshot{} }, false},
		"deliveries from their time":    {func(r *store.Record) { r.Result.Latency.Publish = hist.Snapshot{} }, false},
		"no latency":                    {func(r *store.Record) { r.Result.Latency = store.Latency{} }, false},
		"no result":                     {func(r *store.Record) { r.Result = nil }, false},
	} {
		r := measured()
		full := r.Result.Latency.EndToEnd
		r.Result.Latency = store.Latency{EndToEnd: full, Publish: full, EndToEndService: full, Service: full}
		c.change(&r)
		if got := OnlyFromSend(r); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
