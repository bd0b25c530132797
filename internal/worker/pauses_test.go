package worker

import (
	"math/rand/v2"
	"testing"

	"github.com/brokermark/brokermark/internal/clock"
)

// The log leaves out wake-ups less than minLogged late, so quantiles may differ by that.
func TestPausesOfALogAreThoseThatATrialRecords(t *testing.T) {
	const ms, from, until = 1_000_000, 1_000 * 1_000_000, 3_000 * 1_000_000
	random := rand.New(rand.NewPCG(1, 2))
	watched := &pauseRecorder{phase: func() phaseTimes { return phaseTimes{from, until} }}
	log := &PauseLog{}
	for due := int64(0); due < until+500*ms; {
		at := due
		switch random.IntN(40) {
		case 0:
			at += random.Int64N(90 * ms) // a pause
		case 1, 2:
			at += random.Int64N(ms / 2)
		}
		watched.wakeUp(due, at)
		log.wakeUp(due, at)
		due = at + int64(clock.WatchEvery)
	}
	recorded, logged := watched.pauses(), PausesOf(log.LateWakeUps(from, until), from, until)
	for _, q := range []float64{0.9, 0.99, 0.999} {
		if a, b := recorded.Late.Quantile(q), logged.Late.Quantile(q); b < a*9/10-ms || b > a*11/10+ms {
			t.Errorf("late at p%g: %d ns, but %d ns were recorded", 100*q, b, a)
		}
	}
	if a, b := recorded.StoodStill(from, until), logged.StoodStill(from, until); a != b || a == 0 {
		t.Errorf("stood still for %d ns, but %d ns were recorded", b, a)
	}
	if a, b := recorded.Longest(from, until), logged.Longest(from, until); a != b {
		t.Errorf("the longest was %v, but %v was recorded", b, a)
	}
}

func TestAPauseLogKeepsTheNewest(t *testing.T) {
	log := &PauseLog{}
	const n = 5*maxStops + 7
	for i := range int64(n) {
		log.wakeUp(i*10_000_000, i*10_000_000+2_000_000)
	}
	all := log.LateWakeUps(0, n*10_000_000)
	if len(all) < maxStops || len(all) > 2*maxStops || all[len(all)-1].From != (n-1)*10_000_000 {
		t.Errorf("%d are kept, the last of them %v", len(all), all[len(all)-1])
	}
}
