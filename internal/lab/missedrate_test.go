package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// A trial of 20 s at 1,000/s during whose last 0.9 s the broker stands still. Nine tenths of it, and the begin of the last, show no backlog.
func TestARateDuringWhichTheBrokerStoodStillInTheEndIsNotSustained(t *testing.T) {
	const rate, length, stands = 1000, 20 * time.Second, 900 * time.Millisecond
	var tr trial
	tr.Scheduled, tr.Rate, tr.Drained, tr.Until = true, rate, true, int64(length)
	tr.Measured = measure.Books{Due: 20_000, Sent: 20_000, Acked: 20_000, Expected: 20_000, Received: 20_000}
	for at := time.Duration(0); at <= length; at += 20 * time.Millisecond {
		came := min(at, length-stands).Milliseconds()
		tr.Samples = append(tr.Samples, worker.Sample{
			At: int64(at), Phase: measure.Measured, Backlog: at.Milliseconds() - came, Count: measure.Count{Sent: at.Milliseconds(), Acked: came, Received: came},
		})
	}
	spec := study.Defaults()
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: spec, record: &store.Record{}}
	got := rule(spec).Judge(b.evidence(tr, rate), search.Goal{FinalDuration: length})
	if got.Verdict != search.Fail || got.Reason.Text != "955/s of 1000/s came through" {
		t.Errorf("%s: %s", got.Verdict, got.Reason)
	}
}
