package lab

import (
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A thousand messages a second for two seconds come to each of two subscriptions; the last one comes a minute later.
func TestOneStragglerDoesNotLowerAThroughput(t *testing.T) {
	at := func(s, messages float64) worker.Sample {
		return worker.Sample{At: int64(s * float64(time.Second)), Count: measure.Count{Acked: int64(messages), Received: int64(2 * messages)}}
	}
	one := trial{Outcome: worker.Outcome{From: int64(time.Second), Until: int64(2 * time.Second)}}
	for i := range 151 { // one second of warm-up, and two in which it comes
		one.Samples = append(one.Samples, at(float64(i)/50, float64(i)*20))
	}
	for name, samples := range map[string][]worker.Sample{"none": one.Samples, "one": append(one.Samples, at(63, 3001))} {
		one.Samples = samples
		for _, subscriptions := range []int{0, 2} {
			if got, ok := one.throughputUntilArrived(subscriptions); !ok || math.Abs(got-1000) > 1 {
				t.Errorf("%s, %d subscriptions: %.1f/s, known %v; want 1000/s", name, subscriptions, got, ok)
			}
		}
	}
	for name, samples := range map[string][]worker.Sample{"no sample": nil, "one sample": {at(1, 5)}, "nothing came": {at(1, 5), at(2, 5)}} {
		one.Samples = samples
		if got, ok := one.throughputUntilArrived(2); got != 0 || ok != (name == "nothing came") {
			t.Errorf("%s: %g/s, known %v", name, got, ok)
		}
	}
}

func TestAPhaseTooShortForTheFlowLeavesCoarseRatesWithADoubt(t *testing.T) {
	tr := trial{Outcome: worker.Outcome{From: 1e9, Until: 1e9 + 30e6}}
	for name, c := range map[string]struct {
		samples []worker.Sample
		rate    float64
		doubts  int
	}{
		"one sample":  {[]worker.Sample{{At: 1e9 + 5e6}}, 700, 1},
		"two samples": {[]worker.Sample{{At: 1e9 + 5e6}, {At: 1e9 + 25e6, Count: measure.Count{Acked: 10, Received: 10}}}, 500, 0},
	} {
		b, r := &bench{record: &store.Record{}}, store.Result{Measurement: store.Measurement{PublishRate: 700}}
		tr.Samples = c.samples
		b.setSampledRates(&r, tr)
		if r.PublishRate != c.rate || len(b.record.Doubts) != c.doubts {
			t.Errorf("%s: %g/s, %v", name, r.PublishRate, b.record.Doubts)
		}
	}
}
