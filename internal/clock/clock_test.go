package clock

import (
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

func BenchmarkNow(b *testing.B) {
	var sum int64
	for b.Loop() {
		sum += Now()
	}
	_ = sum
}
