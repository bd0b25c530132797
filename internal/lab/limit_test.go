package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestALimitMayHaveDroppedWhatItDoesNotKeepOnceItWasReached(t *testing.T) {
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
		b := &bench{limit: c.limit}
		out := worker.Outcome{BacklogMax: c.backlog, Warmup: measure.Books{Received: c.warmup}, Measured: measure.Books{Expected: c.measure}}
		if b.mayDrop(&out); out.Measured.MayDrop != c.want {
			t.Errorf("%s: may drop %d, want %d", name, out.Measured.MayDrop, c.want)
		}
	}
}
