package provision

import (
	"strings"
	"testing"
)

// chosen meters what the names say, as process 7.
func (f fakeProc) chosen(t *testing.T, names ...string) (*Foreign, error) {
	t.Helper()
	m := newForeign(f.dir, 7)
	for _, name := range names {
		if err := m.choose(t.Context(), name); err != nil {
			return nil, err
		}
	}
	m.look()
	return m, nil
}

const rabbit = "/system.slice/rabbit.service"

func TestProcessesAreMeteredByNumberUnitAndPort(t *testing.T) {
	for name, want := range map[string]string{
		"50":             "beam.smp, process 50",
		"51":             "erl_child_setup, process 51",
		"rabbit":         "beam.smp, process 50; epmd, process 60",
		"rabbit.service": "beam.smp, process 50; epmd, process 60",
		":5672":          "beam.smp, process 50",
		"127.0.0.1:5672": "beam.smp, process 50",
		"60 :5672":       "epmd, process 60; beam.smp, process 50",
		"8":              "no process 8 to meter",
		"7":              "no process 7 to meter", // itself
		"kafka":          "no process of the unit kafka.service runs; allowed is the number of a process, a systemd unit, or a port as in :9092",
		":5673":          ":5673: no socket of this network namespace listens on it",
		":amqp":          `port "amqp" is not a number up to 65535`,
		"192.0.2.7:5672": "192.0.2.7:5672 is not on this machine",
	} {
		m, err := listening(t, rabbit).chosen(t, strings.Fields(name)...)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = m.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAMeterSaysThatItsProcessIsGone(t *testing.T) {
	again := fakeProcess{pid: 80, parent: 1, name: "beam.smp", start: 95, user: 10, sockets: []int{71}, cgroup: rabbit}
	for _, c := range []struct {
		name                   string
		goneAfter, goneForGood bool
	}{
		{"50", true, true},
		{":5672", true, false},
		{"rabbit", false, false}, // one process of the unit is left
	} {
		f := listening(t, rabbit)
		m, err := f.chosen(t, c.name)
		if err != nil {
			t.Fatal(err)
		}
		m.again()
		if m.Gone() {
			t.Errorf("%s: gone before it ended", c.name)
		}
		f.remove(50, 51)
		m.again()
		if m.Gone() != c.goneAfter {
			t.Errorf("%s: gone is %v", c.name, m.Gone())
		}
		f.add(again)
		m.again()
		if m.Gone() != c.goneForGood {
			t.Errorf("%s: gone is %v with another process in its place", c.name, m.Gone())
		}
	}
}

func TestAMeterKnowsWhichAddressesItsProcessesServe(t *testing.T) {
	m, err := listening(t, "").chosen(t, "50")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Serves(t.Context(), []string{"127.0.0.1:5673", "localhost:5672", "192.0.2.7:5672"}); len(got) != 1 || got[0] != "localhost:5672" {
		t.Errorf("%v", got)
	}
	if m, err = listening(t, "").chosen(t, "60"); err != nil {
		t.Fatal(err)
	}
	if got := m.Serves(t.Context(), []string{"127.0.0.1:5672"}); len(got) != 0 {
		t.Errorf("%v is served by somebody else", got)
	}
}
