package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/worker"
)

// A trial of 50 minutes has a sample every 20 ms.
func TestASeriesHasNoMoreThanItsLargestNumberOfTicks(t *testing.T) {
	b := &bench{}
	m := &metering{bench: b, live: liveMeters{perSample: worker.NewThinned[Cores](maxCores)}}
	var out worker.Outcome
	for at := int64(0); at < 3000e9; at += int64(worker.SampleEvery) {
		out.Samples = append(out.Samples, worker.Sample{At: at})
	}
	if n := len(m.series(out)); n > maxTicks || n < maxTicks*9/10 {
		t.Errorf("%d ticks, want about %d and no more", n, maxTicks)
	}
	b.spec.Curve.Rates = make([]float64, 40) // whose record has the ticks of all
	if n := len(m.series(out)); n > maxOfRates/40 || n < maxOfRates/40*9/10 {
		t.Errorf("%d ticks of one of 40 rates, want about %d and no more", n, maxOfRates/40)
	}
}
