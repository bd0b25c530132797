package worker

import (
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
)

func TestAConsumerTakesItsTimeForEveryMessage(t *testing.T) {
	for name, d := range map[string]Delay{
		"constant":    {Mean: 2 * time.Millisecond},
		"exponential": {Mean: 2 * time.Millisecond, Exponential: true, Seed: 5},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApplication(d, 0, nil)
			const n = 100
			batch := make([]driver.Received, n)
			for i := range batch {
				batch[i].Payload = []byte{byte(i)}
			}
			var at []int64
			began := clock.Now()
			a.process(batch, func(one []driver.Received) bool {
				if len(one) != 1 || int(one[0].Payload[0]) != len(at) {
					t.Fatalf("%v is the %dth message", one, len(at))
				}
				at = append(at, clock.Now())
				return len(at) > n/2 // the first half needs no work
			})
			took := time.Duration(clock.Now() - began)
			if len(at) != n {
				t.Fatalf("%d of %d messages", len(at), n)
			}
			if early := time.Duration(at[n/2-1] - began); early > took/4 {
				t.Errorf("%v were spent on messages without work", early)
			}
			// What the sum of exponential times may be off by is a few times its deviation; a busy machine only makes it longer.
			want := (n/2 - 1) * d.Mean
			least := want
			if d.Exponential {
				least -= time.Duration(4 * math.Sqrt(n/2) * float64(d.Mean))
			}
			if took < least || took > 3*want+500*time.Millisecond {
				t.Errorf("took %v, %v is the work", took, want)
			}
		})
	}
}

func TestAConsumerThatEndsGivesUpItsWork(t *testing.T) {
	life := make(chan struct{})
	a := newApplication(Delay{Mean: time.Hour}, 0, life)
	time.AfterFunc(50*time.Millisecond, func() { close(life) })
	began, taken := time.Now(), 0
	a.process(make([]driver.Received, 10), func([]driver.Received) bool { taken++; return true })
	if took := time.Since(began); took > 10*time.Second || taken != 1 {
		t.Errorf("%d messages taken, ended after %v", taken, took)
	}
}

func TestTheShareOfWorkIsThatOfTheTimeBetweenMessages(t *testing.T) {
	a := newApplication(Delay{Mean: 10 * time.Millisecond}, 0, nil)
	a.worked.Store(int64(50 * time.Millisecond)) // five messages, each 30 ms after the one before it
	if got := a.busyShare(7, 7+int64(120*time.Millisecond)); math.Abs(got-50.0/130) > 1e-9 {
		t.Errorf("%g", got)
	}
	if a.busyShare(0, 0) != 0 || (*application)(nil).busyShare(1, 2) != 0 {
		t.Error("work without a message")
	}
}
