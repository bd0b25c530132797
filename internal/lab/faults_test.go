package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A count that is over in a moment never gets to a kill at one hour: its record must not look like one of a killed broker.
func TestAFaultDueAfterTheEndOfTheRunIsADoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at     time.Duration
		missed bool
	}{"within the run": {0, false}, "long after it": {time.Hour, true}} {
		t.Run(name, func(t *testing.T) {
			db := openStore(t)
			_, err := lab.Run(t.Context(), runsOf(simSpec(func(s *study.Spec) {
				s.Broker, s.Delivery, s.Acks = "nats", "at-most-once", "none"
				s.Measure, s.Count, s.Load.Rate, s.Warmup = "count", study.Count{Messages: 2000}, 4000, study.Warmup{}
				s.Faults = []study.Fault{{At: study.Duration(c.at), Do: "pause", Node: "1", For: study.Duration(time.Millisecond)}}
			})), lab.Options{Store: db, Host: newHost(t), Log: testLog{t}})
			if err != nil {
				t.Fatal(err)
			}
			r := readRecords(t, db)[0]
			text := ""
			for _, d := range r.Doubts {
				if d.Code == "faults-missed" {
					text = d.Text
				}
			}
			if r.Result == nil {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			if c.missed != strings.Contains(text, "pause at 1h0m0s") || !c.missed && text != "" {
				t.Errorf("%s: doubt %q", r.Status, text)
			}
			if paused := len(r.Result.Faults) > 0; paused == c.missed || r.Status == store.Refused {
				t.Errorf("%s: faults %+v", r.Status, r.Result.Faults)
			}
		})
	}
}
