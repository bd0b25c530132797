package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
)

// A part that is compiled and fills its caches in the warm-up is busier and larger then than it ever is under the measured load.
func TestPeaksOfAPartAreThoseOfTheMeasuredPhase(t *testing.T) {
	busy, resident := time.Duration(0), int64(900)
	m := &pipelineMeters{parts: []partMeter{{
		name: "server", readAt: clock.Now() - 2e9, tickedAt: clock.Now() - 2e9,
		read: func() provision.Usage { return provision.Usage{User: busy, RSSBytes: resident} },
	}}}
	busy = 4 * time.Second // in 2 s
	m.readParts()
	resident = 300
	m.beginMeasured()
	busy, m.parts[0].readAt = busy+time.Second, m.parts[0].readAt-2e9
	m.readParts()
	p := m.used()[0]
	if p.UserSeconds != 1 || p.PeakCPU < 0.4 || p.PeakCPU > 0.5 || p.RSSBytes != 300 {
		t.Errorf("%+v; want 1 s, half a core at most and 300 bytes", p)
	}
}

// A few milliseconds after the measured phase began, the kernel's coarse accounting would make a tick of any height.
func TestATickShowsTheCoresSinceTheTickBeforeAlsoWhereTheMeasuredPhaseBegins(t *testing.T) {
	busy := time.Duration(0)
	m := &pipelineMeters{parts: []partMeter{{
		name: "server", readAt: clock.Now() - 4e9, tickedAt: clock.Now() - 4e9, // a tick 4 s ago
		read: func() provision.Usage { return provision.Usage{User: busy} },
	}}}
	m.beginMeasured()
	busy = 2 * time.Second
	if cores := m.readParts().CPU[0]; cores < 0.4 || cores > 0.5 {
		t.Errorf("%.3g cores, want half a core: 2 s in 4 s", cores)
	}
}

// A load of 0.2 s would be over before the first look of every half second.
func TestTheQueueOfAShortLoadIsAskedForOftener(t *testing.T) {
	for expected, want := range map[time.Duration]int{0: 5, time.Second: 5, 10 * time.Second: 2, 12500 * time.Millisecond: 2, 25 * time.Second: 1, time.Hour: 1} {
		if got := looksIn(expected); got != want {
			t.Errorf("in a load of %s: %d looks each half second, want %d", expected, got, want)
		}
	}
}
