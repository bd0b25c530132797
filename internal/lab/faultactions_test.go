package lab

import (
	"reflect"
	"testing"
	"time"

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
		"at once, in the order written": {
			[]study.Fault{{At: at(1), Do: "kill", Node: "1"}, {At: at(1), Do: "restart", Node: "1"}},
			[]faultAction{{at: 1e9, do: "kill", node: "1", implied: false}, {at: 1e9, do: "restart", node: "1", implied: false}},
		},
	} {
		got := actionsOf(c.faults)
		for i := range got {
			got[i].hits = nil // see the next test
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
	})
	begun := map[time.Duration]int{15e9: 12, 30e9: 10, 14e9: 13} // by when a fault ends: when it began, s
	for _, a := range actions {
		began, ends := begun[a.at]
		for _, b := range actions {
			if same, want := a.hits == b.hits, b.at == time.Duration(began)*time.Second; ends && b.at < a.at && same != want {
				t.Errorf("what ends a fault at %v is aimed at the nodes of the one at %v: %v, want %v", a.at, b.at, same, want)
			}
		}
	}
	if last := actions[len(actions)-1]; last.hits != nil {
		t.Error("a restart of its own is aimed at the nodes of a fault")
	}
}

func TestFaultsDueAfterTheEndOfTheRunAreMissed(t *testing.T) {
	hour := study.Duration(time.Hour)
	f := newFaults(nil)
	for _, a := range actionsOf([]study.Fault{{At: hour, Do: "restart"}, {At: hour, Do: "kill", For: hour}, {At: hour, Do: "pause", For: hour}}) {
		f.miss(a)
	}
	if want := []string{"restart at 1h0m0s", "kill at 1h0m0s", "pause at 1h0m0s"}; !reflect.DeepEqual(f.missed, want) {
		t.Errorf("%q, want %q", f.missed, want)
	}
}
