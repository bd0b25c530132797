package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/worker"
)

// A trial of 50 minutes has a sample every 20 ms.
func TestASeriesHasNoMoreThanItsLargestNumberOfTicks(t *testing.T) {
	m := &metering{live: liveMeters{perSample: worker.NewThinned[Cores](maxCores)}}
	var out worker.Outcome
	for at := int64(0); at < 3000e9; at += int64(worker.SampleEvery) {
		out.Samples = append(out.Samples, worker.Sample{At: at})
	}
	if n := len(m.series(out)); n > maxTicks || n < maxTicks*9/10 {
		t.Errorf("%d ticks, want about %d and no more", n, maxTicks)
	}
}
