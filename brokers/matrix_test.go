package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// A guarantee that a driver says it keeps is proved by matrixtest, cell by cell; here is looked after that every broker
// that can be started runs it, and that every cell says how it is kept.
func TestEveryBrokerProvesItsGuarantees(t *testing.T) {
	files, err := filepath.Glob("*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(data)
	}
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if kind.Maps == nil {
			t.Errorf("%s doesn't say how it keeps guarantees (driver.Kind.Maps)", name)
			continue
		}
		kept := 0
		for _, c := range kind.Matrix() {
			if c.Refusal == nil {
				kept++
				if len(c.Native) == 0 {
					t.Errorf("%s keeps %+v by nothing", name, c.Guarantee)
				}
			}
		}
		if kept == 0 {
			t.Errorf("%s keeps nothing", name)
		}
		_, err = provision.Lookup(name)
		if started := err == nil; started && !strings.Contains(tests.String(), `matrixtest.Matrix{Broker: "`+name+`"`) {
			t.Errorf("no test of %s proves its guarantees: matrixtest.Prove(t, matrixtest.Matrix{Broker: %q})", name, name)
		}
	}
}
