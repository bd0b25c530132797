package lab

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/store"
)

// A tool may say that it sent what the broker never got: nothing else here would notice.
func TestWhatTheBrokerCountsIsNotFewerThanTheToolSent(t *testing.T) {
	for _, c := range []struct {
		counted *int64 // nil: the broker doesn't say
		want    string // the reason why the run is void; "": it is not
	}{
		{nil, ""},
		{new(int64(1000)), ""},
		{new(int64(1001)), ""}, // resent: at least once
		{new(int64(999)), "the broker counted 999 of the 1000 messages that x says it sent"},
	} {
		b := &bench{record: &store.Record{Result: &store.Result{}}}
		b.record.Result.Cost.Messages = 1000
		err := (&toolRun{bench: b, tool: maker.Tool{Name: "x"}, stored: &store.Tool{BrokerPublished: c.counted}}).tookAll()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}
