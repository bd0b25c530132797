package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestAFullQueueMayHaveDroppedAllMessagesBeyondItsLimit(t *testing.T) {
	for name, c := range map[string]struct {
		limit                    driver.Limit
		backlog, warmup, measure int64 // largest backlog, received in the warm-up, expected in the measured phase
		want                     int64
	}{
		"no limit":                       {backlog: 1000, measure: 1000},
		"never reached":                  {limit: driver.Limit{Setting: "x", Messages: 50}, backlog: 49, measure: 1000},
		"reached":                        {limit: driver.Limit{Setting: "x", Messages: 50}, backlog: 50, measure: 1000, want: 950},
		"some of it kept of the warm-up": {limit: driver.Limit{Setting: "x", Messages: 50}, backlog: 50, warmup: 1, measure: 1000, want: 951},
		"all of it kept of the warm-up":  {limit: driver.Limit{Setting: "x", Messages: 50}, backlog: 50, warmup: 400, measure: 1000, want: 1000},
		"keeps more than there was":      {limit: driver.Limit{Setting: "x", Messages: 50}, backlog: 50, measure: 20},
		"keeps nothing":                  {limit: driver.Limit{Setting: "x"}, measure: 20, want: 20},
	} {
		out := worker.Outcome{BacklogMax: c.backlog, Warmup: measure.Books{Received: c.warmup}, Measured: measure.Books{Expected: c.measure}}
		if got := mostDrops(c.limit, out).measured; got != c.want {
			t.Errorf("%s: may drop %d, want %d", name, got, c.want)
		}
	}
}

func TestAnAgeLimitMayHaveDroppedMessagesOnceOneWaitedThatLong(t *testing.T) {
	old := driver.Limit{AgeSetting: "ttl", Age: time.Second}
	both := driver.Limit{Setting: "length", Messages: 50, AgeSetting: "ttl", Age: time.Second}
	for name, c := range map[string]struct {
		limit    driver.Limit
		latency  time.Duration // the longest of a message that arrived
		gap      time.Duration // without any delivery
		received int64         // of 1000
		backlog  int64
		want     int64
		limits   string
	}{
		"no limit":                            {latency: time.Hour, received: 900},
		"nothing waited":                      {limit: old, latency: 200 * time.Millisecond, received: 990},
		"the oldest go when they are due":     {limit: old, latency: 950 * time.Millisecond, received: 900, want: 1000, limits: "ttl"},
		"nothing came for a while":            {limit: old, latency: 5 * time.Millisecond, gap: 1500 * time.Millisecond, received: 900, want: 1000, limits: "ttl"},
		"nothing came for a shorter while":    {limit: old, latency: 5 * time.Millisecond, gap: 500 * time.Millisecond, received: 900},
		"nothing came at all":                 {limit: old, want: 1000, limits: "ttl"},
		"the number was reached, not the age": {limit: both, latency: time.Millisecond, backlog: 50, received: 900, want: 950, limits: "length"},
		"both":                                {limit: both, latency: time.Second, backlog: 50, received: 900, want: 1000, limits: "ttl"},
	} {
		h := hist.New()
		h.Record(int64(c.latency))
		out := worker.Outcome{
			BacklogMax: c.backlog, Measured: measure.Books{Expected: 1000, Received: c.received}, FirstSent: 1, Until: int64(5 * time.Second),
			Histograms: measure.Histograms{EndToEndService: h.Snapshot()}, DeliverySilences: []worker.Interval{{From: 1, To: 1 + int64(c.gap)}},
		}
		if got := mostDrops(c.limit, out); got.measured != c.want || got.setting != c.limits {
			t.Errorf("%s: may drop %d by %q, want %d by %q", name, got.measured, got.setting, c.want, c.limits)
		}
	}
}
