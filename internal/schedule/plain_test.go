package schedule

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestAScheduleIsTheSameInAnotherProcess(t *testing.T) {
	for name, s := range map[string]Schedule{
		"constant": must(Constant(1234.5678)),
		"poisson":  must(Poisson(9876.5, 1<<63+5)),
		"ramp":     must(Ramp(10, 54321.25, 7*time.Second)),
		"to rest":  must(Ramp(1e6, 0, time.Second)),
		"steps":    must(Steps([]Step{{100, 100, time.Second}, {0, 0, 300 * time.Millisecond}, {0.75, 0.75, 5 * time.Second}}, false)),
		"slopes":   must(Steps([]Step{{100, 300, time.Second}, {300, 0, 70 * time.Millisecond}}, true)),
		"bursts":   must(Bursts(0, 5000, time.Second, 37*time.Millisecond)),
	} {
		p, err := ToPlain(s)
		if err != nil {
			t.Fatal(name, err)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(name, err)
		}
		var told *Plain
		if err := json.Unmarshal(text, &told); err != nil {
			t.Fatal(name, err)
		}
		again, err := told.Schedule()
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%s: %+v, %v; want %+v", name, again, err, s)
		}
	}
	if p, err := ToPlain(nil); p != nil || err != nil {
		t.Errorf("no schedule: %v, %v", p, err)
	}
	if s, err := (*Plain)(nil).Schedule(); s != nil || err != nil {
		t.Errorf("no schedule: %v, %v", s, err)
	}
	if _, err := ToPlain(share(must(Constant(1)), 0, 2)); err == nil {
		t.Error("a share was described, whose parts depend on who shares it")
	}
	many := Deal{Clients: 1 << 15, Producers: 1 << 15}
	if _, err := ToPlain(many.Share(must(Poisson(1000, 1)), 3)); err == nil {
		t.Error("a client's part of a Poisson process was described: as the whole process it has other arrivals")
	}
}

func TestDamagedSchedulesAreRefused(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"Constant": 1000000000000000001}`, `{"Constant": 999}`, `{"Constant": 1000, "Piecewise": {"Segments": [{"Rate": 1000, "To": 2000, "For": 9}]}}`,
		`{"Piecewise": {"Segments": [{"Rate": 999, "For": 1000}]}}`, `{"Poisson": {"Rate": -1}}`, `{"Piecewise": {"Segments": [{"Rate": 1, "To": 1, "For": 0}]}}`, `{"Piecewise": {"Segments": [{"Rate": 5000, "To": 999, "For": 9}]}}`, `{"Piecewise": {}}`,
		`{"Piecewise": {"Segments": [{"Rate": 5000, "For": -1}]}}`, `{"Piecewise": {"Segments": [{"Rate": 0, "For": 1}]}}`,
		`{"Piecewise": {"Segments": [{"Rate": 5000, "For": 9223372036854775807}]}}`,
		`{"Piecewise": {"Segments": [{"Rate": 5000, "For": 315360000000000000}, {"Rate": 5000, "For": 315360000000000000}]}}`,
	} {
		var p *Plain
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if s, err := p.Schedule(); err == nil {
			t.Errorf("%s made %+v", text, s)
		}
	}
}
