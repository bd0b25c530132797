// Package reports holds the reports: each turns results into a document. It reads results and nothing else. Importing the package
// registers all of them.
//
//	report, err := reports.Lookup("headtohead")
//	if err != nil { // names the reports that exist
//		return err
//	}
//	d, err := report.Build(results.Of(records)) // render.Render writes d as text
package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// Report turns results into a document. Build never changes the results, and makes a document of an empty
// set, too.
type Report struct {
	Name  string // for commands: "headtohead"
	Doc   string // its contents in one line, for help
	Build func(set *results.Set) (document.Document, error)
}

// Default is the report shown when none is named.
const Default = "summary"

var reports = map[string]Report{}

// Register adds a report. It panics on a duplicate name and on an incomplete report. Reports call it from
// init.
func Register(r Report) {
	if r.Name == "" || r.Doc == "" || r.Build == nil {
		panic(fmt.Sprintf("reports: incomplete report %q", r.Name))
	}
	if _, dup := reports[r.Name]; dup {
		panic("reports: registered twice: " + r.Name)
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

// All lists them, sorted by their names.
func All() []Report { return lists.Map(Names(), func(name string) Report { return reports[name] }) }

// Sections is a report in parts, for pages that arrange the parts by themselves.
type Sections struct {
	Title   string
	Opening []document.Block // verdicts on all groups
	Groups  []Section
	Closing []document.Block // how to read the tables, and their footnotes
}

// Section is about the points of one message size and guarantee.
type Section struct {
	Name    string // "100 B, at-least-once"
	Points  []results.Point
	Blocks  []document.Block // without the heading
	Caution string           // for charts: some of these brokers flush to the disk, some don't; empty if they are alike
}

// Document is the whole report in the usual order.
func (s Sections) Document() document.Document {
	return document.Document{Title: s.Title, Blocks: slices.Concat(s.Opening, s.Body())}
}

// Body is the report without its opening.
func (s Sections) Body() []document.Block {
	var blocks []document.Block
	for _, g := range s.Groups {
		blocks = append(blocks, document.Heading{Level: 1, Text: g.Name})
		blocks = append(blocks, g.Blocks...)
	}
	return append(blocks, s.Closing...)
}

// Guarantees names the guarantee that the brokers of the section were asked for, or each of several.
func (s Section) Guarantees() string {
	var asked []string
	for _, p := range s.Points {
		guarantee := fmt.Sprintf("%s, persistence %s, %s with acks %s, %s", p.Spec.Delivery, p.Spec.Persistence,
			unit.Counted(p.Spec.Replicas, "replica"), p.Spec.Acks, p.Spec.Ordering)
		asked = lists.AddNew(asked, guarantee)
	}
	return "Guarantee asked for: " + strings.Join(asked, "; or ") + "."
}
