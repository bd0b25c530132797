package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
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
