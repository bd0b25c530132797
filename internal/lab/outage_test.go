package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/worker"
)

func TestWhatWeStoodStillOurselvesIsNobodysOutage(t *testing.T) {
	tr := trial{Outcome: worker.Outcome{
		Undelivered: []worker.Stop{{From: 150, To: 800}, {From: 900, To: 1080}},
		Unconfirmed: []worker.Stop{{From: 100, To: 300}},
		Pauses:      worker.Pauses{Stops: []worker.Stop{{From: 160, To: 790}, {From: 1070, To: 2000}}},
	}}
	tr.SampleEvery = 20 * time.Millisecond
	if got := outage(tr); got.SampleNs != 20e6 || got.ReceiveNs != 170 || got.PublishNs != 60 {
		t.Errorf("nothing delivered for %d ns, want 170; nothing confirmed for %d, want 60; samples %d ns apart", got.ReceiveNs, got.PublishNs, got.SampleNs)
	}
}
