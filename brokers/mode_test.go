package all_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestEveryDriverStandsInEveryClassOfSettings(t *testing.T) {
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, class := range driver.Classes {
			has := slices.ContainsFunc(kind.Settings, func(s driver.Setting) bool { return s.Class == class })
			if kind.Client != "" && !has && kind.Without[class] == "" {
				t.Errorf("%s has no setting for the %s, and doesn't say how it is without", name, class)
			}
			if class.Principle() == "" {
				t.Errorf("no principle decides about the %s", class)
			}
		}
		for _, s := range kind.Settings {
			if s.Class != "" && !slices.Contains(driver.Classes, s.Class) {
				t.Errorf("%s: %s is of the class %q", name, s.Name, s.Class)
			}
		}
	}
}

// One principle decides: what a consumer is given ahead, how long a client waits for more, and that nobody gathers
// acknowledgements whose library doesn't.
func TestDefaultsFollowThePrinciplesOfTheirClasses(t *testing.T) {
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range kind.Settings {
			switch n, _ := s.Default.(int64); s.Name {
			case "prefetch", "Credit", "ReceiveMaximum", "receiverQueueSize", "COUNT", "MaxInflight", "MaxAckPending", "PullMaxMessages":
				if s.Class != driver.Prefetching || n < 1000 {
					t.Errorf("%s gives a consumer %d messages ahead (%s, of the class %q)", name, n, s.Name, s.Class)
				}
			case "ack.every":
				if n != 1 {
					t.Errorf("%s gathers %d acknowledgements, its library none", name, n)
				}
			case "linger.ms":
				if n != 1 {
					t.Errorf("%s waits %d ms for more messages", name, n)
				}
			case "batchingMaxPublishDelay":
				if s.Default != time.Millisecond {
					t.Errorf("%s waits %v for more messages", name, s.Default)
				}
			}
		}
	}
}

// A comparison asks every broker for client.mode: stock, so that each has to know the word: it has that way, or says why not.
func TestEveryDriverSaysHowItUsesItsLibrary(t *testing.T) {
	modes := []string{driver.Stock, driver.Tuned}
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(kind.Settings, func(s driver.Setting) bool { return s.Name == "mode" && s.Scope == driver.ClientScope })
		if i < 0 {
			t.Errorf("%s doesn't say whether its library is used as its documentation does", name)
			continue
		}
		for _, mode := range modes {
			values, err := driver.Decode(kind.Settings, driver.ClientScope, map[string]any{"mode": mode})
			if slices.Contains(kind.Settings[i].Allowed, mode) {
				if err != nil || values.String("mode") != mode || driver.UsesStock(values) != (mode == driver.Stock) {
					t.Errorf("%s: %s: %v, %v", name, mode, values["mode"], err)
				}
				continue
			}
			refusal, ok := errors.AsType[*driver.ErrUnsupported](err)
			if !ok || refusal.Path != "client.mode" || !strings.Contains(err.Error(), kind.Settings[i].Doc) || len(kind.Settings[i].Doc) < 20 {
				t.Errorf("%s: %s: %v", name, mode, err)
			}
		}
		if _, err := driver.Decode(kind.Settings, driver.ClientScope, map[string]any{"mode": "stok"}); errors.As(err, new(*driver.ErrUnsupported)) || err == nil {
			t.Errorf("%s: an unknown word: %v", name, err)
		}
	}
}
