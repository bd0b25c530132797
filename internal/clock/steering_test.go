package clock

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestAClockThatIsSlewedBends(t *testing.T) {
	at := func(ppm ...int64) (took []reading) {
		r := reading{at: 1e12, apart: 1e9}
		took = append(took, r)
		for _, p := range ppm { // a second each
			r.at, r.apart = r.at+1e9, r.apart+1000*p
			took = append(took, r)
		}
		return took
	}
	for _, c := range []struct {
		name string
		took []reading
		want int64
	}{
		{"not steered", at(0, 0, 0, 0), 0},
		{"steered evenly", at(50, 50, 50, 50), 0},
		{"faster, then slower", at(100, 100, 0, 0), 100_000},
		{"slower, then faster", at(0, 0, 0, -400), 300_000},
		{"one reading", at(), 0},
	} {
		if got := bent(c.took); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestWatchingTheSteeringEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := WatchSteering()
	time.Sleep(2 * steeringEvery)
	bend := s.Close()
	if len(s.took) < 2 || bend < 0 {
		t.Errorf("%d readings, bend %d", len(s.took), bend)
	}
	for i, r := range s.took {
		if i > 0 && r.at <= s.took[i-1].at {
			t.Errorf("reading %d is not later than the one before", i)
		}
	}
}
