package lab

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/study"
)

func TestFaultsBecomeATimetable(t *testing.T) {
	at := func(s float64) study.Duration { return study.Duration(s * float64(time.Second)) }
	for name, c := range map[string]struct {
		faults []study.Fault
		want   []faultAction
	}{
		"none":                       {nil, nil},
		"a pause that ends":          {[]study.Fault{{At: at(10), Do: "pause", Node: "1", For: at(3)}}, []faultAction{{at: 10e9, do: "pause", node: "1", implied: false}, {at: 13e9, do: "resume", node: "1", implied: true}}},
		"a kill that ends":           {[]study.Fault{{At: at(1), Do: "kill", Node: "leader", For: at(0.5)}}, []faultAction{{at: 1e9, do: "kill", node: "leader", implied: false}, {at: 1.5e9, do: "restart", node: "leader", implied: true}}},
		"a pause and its own resume": {[]study.Fault{{At: at(2), Do: "pause"}, {At: at(4), Do: "resume"}}, []faultAction{{at: 2e9, do: "pause", node: "", implied: false}, {at: 4e9, do: "resume", node: "", implied: false}}},
		"interleaved, in order of time": {
			[]study.Fault{{At: at(5), Do: "kill", Node: "2", For: at(10)}, {At: at(6), Do: "pause", Node: "1", For: at(1)}, {At: at(3), Do: "restart", Node: "3"}},
			[]faultAction{{at: 3e9, do: "restart", node: "3", implied: false}, {at: 5e9, do: "kill", node: "2", implied: false}, {at: 6e9, do: "pause", node: "1", implied: false}, {at: 7e9, do: "resume", node: "1", implied: true}, {at: 15e9, do: "restart", node: "2", implied: true}},
		},
		"a pause that its resume ends before its time, and the next one": {
			[]study.Fault{{At: at(1), Do: "pause", For: at(5)}, {At: at(3), Do: "resume"}, {At: at(4), Do: "pause", For: at(9)}},
			[]faultAction{{at: 1e9, do: "pause", implied: false}, {at: 3e9, do: "resume", implied: false}, {at: 4e9, do: "pause", implied: false}, {at: 13e9, do: "resume", implied: true}},
		},
		"a kill that a restart ends before its time": {
			[]study.Fault{{At: at(1), Do: "kill", Node: "1", For: at(5)}, {At: at(3), Do: "restart", Node: "1"}},
			[]faultAction{{at: 1e9, do: "kill", node: "1", implied: false}, {at: 3e9, do: "restart", node: "1", implied: false}},
		},
		"at once, in the order written": {
			[]study.Fault{{At: at(1), Do: "kill", Node: "1"}, {At: at(1), Do: "restart", Node: "1"}},
			[]faultAction{{at: 1e9, do: "kill", node: "1", implied: false}, {at: 1e9, do: "restart", node: "1", implied: false}},
		},
	} {
		var got []faultAction
		for _, a := range actionsOf(c.faults) {
			a := *a
			a.ends = nil // see the next test
			got = append(got, a)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A restart is a fault of its own, too: a record that was to have one must not look as if it had.
func TestWhatEndsAFaultIsAimedAtTheNodesThatItHit(t *testing.T) {
	at := func(seconds float64) study.Duration { return study.Duration(seconds * 1e9) }
	actions := actionsOf([]study.Fault{
		{At: at(10), Do: "kill", Node: "leader", For: at(20)},
		{At: at(12), Do: "kill", Node: "leader", For: at(3)},
		{At: at(13), Do: "pause", Node: "leader"},
		{At: at(14), Do: "resume", Node: "leader"},
		{At: at(40), Do: "restart", Node: "2"},
		{At: at(50), Do: "restart", Node: "leader"}, // of a node that runs: both kills have ended
	})
	began := map[time.Duration]time.Duration{15e9: 12e9, 30e9: 10e9, 14e9: 13e9} // by when a fault ends
	for _, a := range actions {
		switch want, ends := began[a.at]; {
		case ends != (a.ends != nil):
			t.Errorf("%s at %v ends a fault: %v, want %v", a.do, a.at, !ends, ends)
		case ends && a.ends.at != want:
			t.Errorf("%s at %v ends the fault at %v, want the one at %v", a.do, a.at, a.ends.at, want)
		}
	}
}

func TestFaultsDueAfterTheEndOfTheRunAreMissed(t *testing.T) {
	hour := study.Duration(time.Hour)
	listed := []study.Fault{{At: hour, Do: "restart"}, {At: hour, Do: "kill", For: hour}, {At: hour, Do: "pause", For: hour}}
	f := &faultInjector{bench: &bench{spec: study.Spec{Faults: listed}}}
	over, end := context.WithCancel(t.Context())
	end()
	f.inject(t.Context(), over, clock.Now())
	if want := []string{"restart at 1h0m0s", "kill at 1h0m0s", "pause at 1h0m0s"}; !reflect.DeepEqual(f.missed, want) {
		t.Errorf("%q, want %q", f.missed, want)
	}
}
