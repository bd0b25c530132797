package cli

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/study"
)

// What can't be changed about a broker is said before anything is run.
func TestAChangeThatABrokerCannotHaveIsRefusedWithItsReason(t *testing.T) {
	machine := explain.Machine{Cores: 4, Memory: 8 << 30}
	for settings, c := range map[string]struct{ cause, want string }{
		"broker=nats attach=[127.0.0.1:4222]":      {"cpu", "this broker is no process that was started here"},
		"broker=jetstream attach=[127.0.0.1:4222]": {"disk", "this broker is no process that was started here"},
		"broker=sim":              {"broker-thread", "this broker is no process that was started here"},
		"broker=sim measure=peak": {"client-window", ""},
		"broker=nats attach=[127.0.0.1:4222] tls=on": {"client-window", ""},
		"broker=nats subscriptionsPerTopic=0":        {"client", "there is none"},
	} {
		s := study.New("x")
		for _, setting := range strings.Fields(settings) {
			if err := s.Set(setting); err != nil {
				t.Fatal(err)
			}
		}
		points, err := s.Points()
		if err != nil {
			t.Fatal(err)
		}
		changes, _ := explain.ChangesFor(c.cause)
		last := changes[len(changes)-1]
		if got := impossible(points[0].Spec, last.Apply(points[0].Spec, machine)); got != c.want {
			t.Errorf("%s, %s: %q, want %q", settings, last.Name, got, c.want)
		}
	}
}
