// The registry of reports.

package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// Report turns results into a document. Build never changes the results, and makes a document of an empty set, too.
type Report struct {
	Name  string // for commands: "headtohead"
	Doc   string // its contents in one line, for help
	Build func(set *results.Set) (document.Document, error)
}

// Default is the report shown when none is named.
const Default = "summary"

var reports = map[string]Report{}

// Register adds a report. It panics on a duplicate name and on an incomplete report. Reports call it from init.
func Register(r Report) {
	if r.Name == "" || r.Doc == "" || r.Build == nil {
		panic(fmt.Sprintf("report: incomplete report %q", r.Name))
	}
	if _, dup := reports[r.Name]; dup {
		panic("report: registered twice: " + r.Name)
	}
	reports[r.Name] = r
}

// Lookup finds a registered report; an unknown name is answered with the names there are.
func Lookup(name string) (Report, error) {
	r, ok := reports[name]
	if !ok {
		return Report{}, fmt.Errorf("unknown report %q; known: %s", name, strings.Join(Names(), ", "))
	}
	return r, nil
}

// Names lists the registered reports, sorted.
func Names() []string { return slices.Sorted(maps.Keys(reports)) }
