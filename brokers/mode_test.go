package all_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

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
			t.Errorf("%s: a word that nobody knows: %v", name, err)
		}
	}
}
