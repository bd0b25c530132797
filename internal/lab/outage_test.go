package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestAnOutageIsTheLongestStandstillWhileLoadWasDue(t *testing.T) {
	sample := func(at, received int64) worker.Sample {
		return worker.Sample{At: at, Count: measure.Count{Received: received, Acked: received / 2}, Undelivered: 1}
	}
	idle := func(at, received int64) worker.Sample {
		s := sample(at, received)
		s.Undelivered = 0
		return s
	}
	for name, c := range map[string]struct {
		samples []worker.Sample
		want    int64
		stops   []worker.Stop
	}{
		"nothing at all":                         {nil, 1000, nil},
		"nothing delivered":                      {[]worker.Sample{sample(150, 0), sample(900, 0), sample(1300, 0)}, 1000, nil},
		"a standstill in the middle":             {[]worker.Sample{sample(150, 1), sample(300, 2), sample(700, 2), sample(800, 3), sample(1099, 9)}, 500, nil},
		"one that ends in the drain":             {[]worker.Sample{sample(150, 1), sample(400, 2), sample(1300, 3), sample(5000, 3)}, 900, nil},
		"quiet after the last one isn't missing": {[]worker.Sample{sample(200, 1), sample(500, 2), sample(800, 3), sample(1090, 4), sample(9000, 4)}, 300, nil},
		"warm-up doesn't count":                  {[]worker.Sample{sample(10, 5), sample(90, 5), sample(350, 6), sample(600, 7), sample(900, 8), sample(1050, 9)}, 300, nil},
		"while nothing was due":                  {[]worker.Sample{sample(150, 1), idle(200, 2), idle(500, 2), sample(520, 2), sample(700, 3), sample(1090, 4)}, 390, nil},
		"due only after a while":                 {[]worker.Sample{idle(150, 1), idle(700, 1), sample(1000, 1), idle(1050, 2)}, 350, nil},
		"nothing due at the end":                 {[]worker.Sample{sample(150, 1), sample(400, 2), idle(1090, 2)}, 250, nil},
		"while this process stood still": {
			[]worker.Sample{sample(150, 1), sample(300, 2), sample(800, 3), sample(900, 4), sample(1080, 5)}, 180, []worker.Stop{{From: 310, To: 790}},
		},
	} {
		tr := trial{Outcome: worker.Outcome{From: 100, Until: 1100, Samples: c.samples, Pauses: worker.Pauses{Stops: c.stops}}}
		if got := outage(tr).ReceiveNs; got != c.want {
			t.Errorf("%s: %d ns, want %d", name, got, c.want)
		}
	}
}
