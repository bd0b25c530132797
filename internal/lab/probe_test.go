package lab

import (
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestAProbesWindowHoldsNoMoreThanItsBytes(t *testing.T) {
	latency := hist.New()
	latency.Record(int64(2 * time.Second))
	slow := trial{Outcome: worker.Outcome{Until: int64(time.Second), Producers: 3, Histograms: measure.Histograms{EndToEnd: latency.Snapshot()}}}
	for size, want := range map[int64]float64{100: 3 * 1000 / 2, 1 << 20: 3 * 32 / 2, 1 << 30: 3 / 2.0} {
		h := &rateSearch{bench: &bench{spec: study.Spec{
			SubscriptionsPerTopic: 1, MessageSize: study.Sizes{{Size: study.Size(size), Weight: 1}}, InFlight: study.InFlight{Messages: 1000, Bytes: 32 << 20},
		}}}
		if got := h.littlesLaw(slow, 1000); math.Abs(got-want) > 0.01*want {
			t.Errorf("%d B: %.0f/s, want %.0f/s", size, got, want)
		}
	}
}

func TestProbesGoOnWhileTheBrokerGetsFaster(t *testing.T) {
	for _, c := range []struct {
		name    string
		probes  []float64 // the last one is what comes from then on
		best    float64
		repeats int
	}{
		{"as warm as it gets", []float64{100, 105, 95}, 100, 4},
		{"warming up", []float64{100, 120, 140, 170, 200, 190}, 200, 8},
		{"slowly", []float64{100, 102, 104, 106, 108, 110, 112, 112}, 112, 10},
		{"a hiccup first", []float64{5, 100}, 100, 5},
		{"faster for ever", nil, math.Inf(1), mostProbes},
	} {
		n := 0
		next := func() (float64, error) {
			n++
			if c.probes == nil {
				return math.Pow(2, float64(n)), nil
			}
			return c.probes[min(n, len(c.probes)-1)], nil
		}
		first := 1.0
		if c.probes != nil {
			first = c.probes[0]
		}
		h := rateSearch{probesUntil: math.MaxInt64}
		best, err := h.untilSteady(first, next)
		if c.probes == nil && best == math.Pow(2, mostProbes) {
			best = c.best
		}
		if err != nil || n != c.repeats || best < c.best/faster {
			t.Errorf("%s: %g after %d repeats, %v; want %g after %d", c.name, best, n, err, c.best, c.repeats)
		}
	}
}

// A broker that gets faster for half a minute takes its budget from the trials no longer than the probes' part of it.
func TestProbesTakeTheirPartOfABudgetAndNoMore(t *testing.T) {
	n := 0
	h := rateSearch{probesUntil: math.MaxInt64}
	best, err := h.untilSteady(1, func() (float64, error) {
		if n++; n == 5 {
			h.probesUntil = 0
		}
		return math.Pow(2, float64(n)), nil
	})
	if err != nil || n != 5 || best != 32 {
		t.Errorf("%d probes found %g, %v", n, best, err)
	}
}
