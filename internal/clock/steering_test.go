package clock

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestAClockThatIsSlewedBends(t *testing.T) {
	at := func(ppm ...int64) (took []steeringReading) {
		r := steeringReading{at: 1e12, steering: 1e9}
		took = append(took, r)
		for _, p := range ppm { // a second each
			r.at, r.steering = r.at+1e9, r.steering+1000*p
			took = append(took, r)
		}
		return took
	}
	for _, c := range []struct {
		name string
		took []steeringReading
		want int64
	}{
		{"not steered", at(0, 0, 0, 0), 0},
		{"steered evenly", at(50, 50, 50, 50), 0},
		{"faster, then slower", at(100, 100, 0, 0), 100_000},
		{"slower, then faster", at(0, 0, 0, -400), 300_000},
		{"faster, then slower, then faster", at(100, 0, 0, 100), 100_000}, // 50 µs ahead, then 50 µs behind: 100 µs off the line from the one to the other
		{"one reading", at(), 0},
	} {
		if got := (&Steering{readings: c.took}).bend(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A peak of 50 µs between two readings that are kept is within the bound, however often readings are dropped.
func TestAPeakThatIsDroppedStillCounts(t *testing.T) {
	var s Steering
	for i := range int64(9) {
		s.readings = append(s.readings, steeringReading{at: i * 1e9})
	}
	s.readings[3].steering = 50_000
	for range 3 {
		s.dropEverySecond()
		if got := s.bend(); got < 50_000 {
			t.Errorf("%d ns with %d readings", got, len(s.readings))
		}
	}
	if len(s.readings) != 2 || s.readings[1].at != 8e9 {
		t.Errorf("%+v are left", s.readings)
	}
}

func TestWatchingTheSteeringEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := WatchSteering()
	time.Sleep(2 * steeringEvery)
	bend := s.Close()
	if len(s.readings) < 2 || bend < 0 {
		t.Errorf("%d readings, bend %d", len(s.readings), bend)
	}
	for i, r := range s.readings {
		if i > 0 && r.at <= s.readings[i-1].at {
			t.Errorf("reading %d is not later than the one before", i)
		}
	}
}
