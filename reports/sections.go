// A report in parts, for pages that arrange them by themselves.

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// Sections is a report in its parts, for pages that set them in an order of their own. Document is the whole report in the usual
// order.
type Sections struct {
	Title   string
	Opening []document.Block // the verdicts
	Groups  []Section
	Closing []document.Block // how to read the tables, and their footnotes
}

// Section is about the points of one message size and guarantee.
type Section struct {
	Name   string // "100 B, at-least-once"
	Points []results.Point
	Blocks []document.Block // below the heading
	Unlike string           // says what the compared brokers did differently, for charts of them; empty if nothing
}

// Document is the whole report.
func (s Sections) Document() document.Document {
	d := document.Document{Title: s.Title}
	d.Add(s.Opening...)
	d.Add(s.Body()...)
	return d
}

// Body is the report without its opening.
func (s Sections) Body() []document.Block {
	var blocks []document.Block
	for _, g := range s.Groups {
		blocks = append(append(blocks, document.Heading{Level: 1, Text: g.Name}), g.Blocks...)
	}
	return slices.Concat(blocks, s.Closing)
}

// Guarantees names the guarantees that the brokers of a section were asked for. Usually there is one, else they can't be compared.
func (s Section) Guarantees() string {
	var asked []string
	for _, p := range s.Points {
		spec := p.Spec
		text := fmt.Sprintf("%s, persistence %s, %s with acks %s, %s", spec.Delivery, spec.Persistence, plural(spec.Replicas, "replica"), spec.Acks, spec.Ordering)
		if !slices.Contains(asked, text) {
			asked = append(asked, text)
		}
	}
	return "Guarantee asked for: " + strings.Join(asked, "; or ") + "."
}
