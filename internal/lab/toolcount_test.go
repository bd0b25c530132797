package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/store"
)

// A tool may say that it sent what the broker never got: nothing else here would notice.
func TestWhatTheBrokerCountsIsNotFewerThanTheToolSent(t *testing.T) {
	for _, c := range []struct {
		counted *int64 // nil: the broker doesn't say
		printed maker.Figures
		want    string // the reason why the run is void; "": it is not
	}{
		{nil, maker.Figures{Sent: 1000}, ""},
		{new(int64(1000)), maker.Figures{Sent: 1000}, ""},
		{new(int64(1001)), maker.Figures{Sent: 1000}, ""}, // resent: at least once
		{new(int64(999)), maker.Figures{Sent: 1000}, "the broker counted 999 of the 1000 messages that x sent by its own figures"},
		{new(int64(999)), maker.Figures{SendRate: 100}, ""}, // of 10 s: how many it sent is an estimate
		{new(int64(970)), maker.Figures{SendRate: 100}, "the broker counted 970 of the 1000 messages that x sent by its own figures"},
	} {
		r := toolRun{tool: maker.Tool{Name: "x"}, point: maker.Point{For: 10 * time.Second}, stored: &store.Tool{BrokerPublished: c.counted}}
		err := r.tookAll(c.printed)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}
