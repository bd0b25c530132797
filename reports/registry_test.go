package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

func TestAReportIsRegisteredOnceAndWhole(t *testing.T) {
	build := reports["x"].Build
	whole := Report{Name: "x", Doc: "d", Build: func(*results.Set) (document.Document, error) { return document.Document{}, nil }}
	if build != nil {
		t.Fatal("the test's name is taken")
	}
	panics := func(r Report) (message string) {
		defer func() { message = fmt.Sprint(recover()) }()
		Register(r)
		return ""
	}
	for _, part := range []Report{{Doc: whole.Doc, Build: whole.Build}, {Name: "x", Build: whole.Build}, {Name: "x", Doc: "d"}} {
		if got := panics(part); !strings.Contains(got, "incomplete report") {
			t.Errorf("%+v was registered: %s", part, got)
		}
	}
	if got := panics(whole); got != "<nil>" {
		t.Errorf("refused: %s", got)
	}
	defer delete(reports, "x")
	if got := panics(whole); !strings.Contains(got, "registered twice: x") {
		t.Errorf("registered twice: %s", got)
	}
	if found, err := Lookup("x"); err != nil || found.Name != "x" || !slices.Contains(Names(), "x") {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := Lookup("y"); err == nil || !strings.Contains(err.Error(), "known: "+strings.Join(Names(), ", ")) {
		t.Error(err)
	}
}

// A figure is called the same, and is in the same unit, wherever it stands.
func TestColumnsOfMetricsAreThoseOfTheOneTable(t *testing.T) {
	set := results.Of(append(demo(3), storetest.Demo()...))
	found := map[string]bool{}
	for _, name := range Names() {
		report, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := report.Build(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range d.Blocks {
			table, ok := b.(document.Table)
			if !ok {
				continue
			}
			for _, c := range table.Columns {
				if _, err := results.MetricByKey(c.Key); err != nil {
					continue
				}
				found[c.Key] = true
				if want := results.Column(c.Key); c.Name != want.Name || c.Unit != want.Unit {
					t.Errorf("%s: column %s is %q in unit %v, want %q in %v", name, c.Key, c.Name, c.Unit, want.Name, want.Unit)
				}
			}
		}
	}
	if len(found) < 10 {
		t.Errorf("looked at %v only", found)
	}
}
