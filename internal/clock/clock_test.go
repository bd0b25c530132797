package clock

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func monotonic(t *testing.T) int64 {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(axis, &ts); err != nil {
		t.Fatal(err)
	}
	return ts.Nano()
}

func TestNowIsTheKernelsMonotonicClock(t *testing.T) {
	for range 1000 {
		before := Now()
		kernel := monotonic(t)
		after := Now()
		const calibration = int64(20 * time.Microsecond) // a hundred tries on a busy machine
		if kernel < before-calibration || kernel > after+calibration {
			t.Fatalf("the kernel says %d between %d and %d", kernel, before, after)
		}
	}
}

func TestNowNeverGoesBack(t *testing.T) {
	for last, i := Now(), 0; i < 100_000; i++ {
		now := Now()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
}

func TestWallAgreesWithTheClockOnTheWall(t *testing.T) {
	now, wall := Now(), time.Now()
	if d := Wall(now).Sub(wall.Round(0)).Abs(); d > time.Second {
		t.Errorf("off by %v", d)
	}
	if d := Wall(now + 5).Sub(Wall(now)); d != 5 {
		t.Errorf("5 ns became %v", d)
	}
}

func TestReadingTheClockAllocatesNothing(t *testing.T) {
	s := NewSleeper()
	defer s.Close()
	if got := testing.AllocsPerRun(100, func() { s.SleepUntil(Now() + 1000) }); got != 0 {
		t.Errorf("%g allocations", got)
	}
}

func TestSleepersNeverWakeEarly(t *testing.T) {
	s := NewSleeper()
	defer s.Close()
	for _, d := range []time.Duration{-time.Hour, 0, 1, 100, time.Microsecond, 50 * time.Microsecond, 3 * time.Millisecond} {
		for range 20 {
			until := Now() + int64(d)
			s.SleepUntil(until)
			if early := until - Now(); early > 0 {
				t.Fatalf("%v: %d ns early", d, early)
			}
		}
	}
	s.SleepUntil(-1 << 63)
}

func TestOffsetRefusesWhatCannotBe(t *testing.T) {
	for want, pings := range map[string][]Ping{
		"no exchange":           nil,
		"exchange 0 goes back":  {{Sent: 10, Arrived: 5, Answered: 5, Received: 9}},
		"exchange 1 goes back ": {{}, {Sent: 1, Arrived: 5, Answered: 4, Received: 2}},
	} {
		if o, err := EstimateOffset(pings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %+v, %v; want an error with %q", pings, o, err, want)
		}
	}
}

func TestOffsetIsWithinItsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	delay := func(floor float64) int64 { return int64(floor + r.ExpFloat64()*200_000) }
	for round := range 1000 {
		truth := r.Int64N(1e18) - 5e17
		out, back := r.Float64()*50_000, r.Float64()*50_000 // ways of unequal length
		drift := []float64{0, 50e-6}[round%2]
		var pings []Ping
		best := int64(1 << 62)
		for i := range int64(1 + r.IntN(100)) {
			p := Ping{Sent: i * 1_000_000}
			shift := truth + int64(drift*float64(p.Sent))
			p.Arrived = p.Sent + delay(out) + shift
			p.Answered = p.Arrived + r.Int64N(50_000)
			p.Received = p.Answered + delay(back) - shift
			pings = append(pings, p)
			best = min(best, p.Received-p.Sent-(p.Answered-p.Arrived))
		}
		got, err := EstimateOffset(pings)
		if err != nil {
			t.Fatal(err)
		}
		drifted := int64(drift * 100e6)
		if miss := got.Ns - truth; miss > got.Bound+drifted || -miss > got.Bound+drifted {
			t.Fatalf("offset %d ± %d, truth %d", got.Ns, got.Bound, truth)
		}
		if got.Bound > best/2+1+drifted {
			t.Fatalf("bound %d, though the quickest exchange gives %d", got.Bound, best/2)
		}
	}
}

func TestTwoExchangesQuickInOneWayEachPinTheOffset(t *testing.T) {
	got, err := EstimateOffset([]Ping{
		{Sent: 0, Arrived: 1010, Answered: 1010, Received: 500},
		{Sent: 0, Arrived: 1490, Answered: 1490, Received: 500},
	})
	if want := (Offset{Ns: 1000, Bound: 10}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func BenchmarkNow(b *testing.B) {
	var sum int64
	for b.Loop() {
		sum += Now()
	}
	_ = sum
}
