package study

import (
	"reflect"
	"testing"
	"time"
)

func TestFaultsBecomeATimetable(t *testing.T) {
	at := func(s float64) Duration { return Duration(s * float64(time.Second)) }
	for name, c := range map[string]struct {
		faults []Fault
		want   []Act
	}{
		"none":                       {nil, nil},
		"a pause that ends":          {[]Fault{{At: at(10), Do: "pause", Node: "1", For: at(3)}}, []Act{{At: 10e9, Do: "pause", Node: "1", Implied: false}, {At: 13e9, Do: "resume", Node: "1", Implied: true}}},
		"a kill that ends":           {[]Fault{{At: at(1), Do: "kill", Node: "leader", For: at(0.5)}}, []Act{{At: 1e9, Do: "kill", Node: "leader", Implied: false}, {At: 1.5e9, Do: "restart", Node: "leader", Implied: true}}},
		"a pause and its own resume": {[]Fault{{At: at(2), Do: "pause"}, {At: at(4), Do: "resume"}}, []Act{{At: 2e9, Do: "pause", Node: "", Implied: false}, {At: 4e9, Do: "resume", Node: "", Implied: false}}},
		"interleaved, in order of time": {
			[]Fault{{At: at(5), Do: "kill", Node: "2", For: at(10)}, {At: at(6), Do: "pause", Node: "1", For: at(1)}, {At: at(3), Do: "restart", Node: "3"}},
			[]Act{{At: 3e9, Do: "restart", Node: "3", Implied: false}, {At: 5e9, Do: "kill", Node: "2", Implied: false}, {At: 6e9, Do: "pause", Node: "1", Implied: false}, {At: 7e9, Do: "resume", Node: "1", Implied: true}, {At: 15e9, Do: "restart", Node: "2", Implied: true}},
		},
		"a pause that its resume ends before its time, and the next one": {
			[]Fault{{At: at(1), Do: "pause", For: at(5)}, {At: at(3), Do: "resume"}, {At: at(4), Do: "pause", For: at(9)}},
			[]Act{{At: 1e9, Do: "pause", Implied: false}, {At: 3e9, Do: "resume", Implied: false}, {At: 4e9, Do: "pause", Implied: false}, {At: 13e9, Do: "resume", Implied: true}},
		},
		"a kill that a restart ends before its time": {
			[]Fault{{At: at(1), Do: "kill", Node: "1", For: at(5)}, {At: at(3), Do: "restart", Node: "1"}},
			[]Act{{At: 1e9, Do: "kill", Node: "1", Implied: false}, {At: 3e9, Do: "restart", Node: "1", Implied: false}},
		},
		"at once, in the order written": {
			[]Fault{{At: at(1), Do: "kill", Node: "1"}, {At: at(1), Do: "restart", Node: "1"}},
			[]Act{{At: 1e9, Do: "kill", Node: "1", Implied: false}, {At: 1e9, Do: "restart", Node: "1", Implied: false}},
		},
	} {
		var got []Act
		for _, a := range Acts(c.faults) {
			a := *a
			a.Ends = nil // see the next test
			got = append(got, a)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A restart is a fault of its own, too: a record that was to have one must not look as if it had.
func TestWhatEndsAFaultIsAimedAtTheNodesThatItHit(t *testing.T) {
	at := func(seconds float64) Duration { return Duration(seconds * 1e9) }
	actions := Acts([]Fault{
		{At: at(10), Do: "kill", Node: "leader", For: at(20)},
		{At: at(12), Do: "kill", Node: "leader", For: at(3)},
		{At: at(13), Do: "pause", Node: "leader"},
		{At: at(14), Do: "resume", Node: "leader"},
		{At: at(40), Do: "restart", Node: "2"},
		{At: at(50), Do: "restart", Node: "leader"}, // of a node that runs: both kills have ended
	})
	began := map[time.Duration]time.Duration{15e9: 12e9, 30e9: 10e9, 14e9: 13e9} // by when a fault ends
	for _, a := range actions {
		switch want, ends := began[a.At]; {
		case ends != (a.Ends != nil):
			t.Errorf("%s at %v ends a fault: %v, want %v", a.Do, a.At, !ends, ends)
		case ends && a.Ends.At != want:
			t.Errorf("%s at %v ends the fault at %v, want the one at %v", a.Do, a.At, a.Ends.At, want)
		}
	}
}
