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
		"a pause that ends":          {[]study.Fault{{At: at(10), Do: "pause", Node: "1", For: at(3)}}, []faultAction{{10e9, "pause", "1", false}, {13e9, "resume", "1", true}}},
		"a kill that ends":           {[]study.Fault{{At: at(1), Do: "kill", Node: "leader", For: at(0.5)}}, []faultAction{{1e9, "kill", "leader", false}, {1.5e9, "restart", "leader", true}}},
		"a pause and its own resume": {[]study.Fault{{At: at(2), Do: "pause"}, {At: at(4), Do: "resume"}}, []faultAction{{2e9, "pause", "", false}, {4e9, "resume", "", false}}},
		"interleaved, in order of time": {
			[]study.Fault{{At: at(5), Do: "kill", Node: "2", For: at(10)}, {At: at(6), Do: "pause", Node: "1", For: at(1)}, {At: at(3), Do: "restart", Node: "3"}},
			[]faultAction{{3e9, "restart", "3", false}, {5e9, "kill", "2", false}, {6e9, "pause", "1", false}, {7e9, "resume", "1", true}, {15e9, "restart", "2", true}},
		},
		"at once, in the order written": {
			[]study.Fault{{At: at(1), Do: "kill", Node: "1"}, {At: at(1), Do: "restart", Node: "1"}},
			[]faultAction{{1e9, "kill", "1", false}, {1e9, "restart", "1", false}},
		},
	} {
		if got := actionsOf(c.faults); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A restart is a fault of its own, too: a record that was to have one must not look as if it had.
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
