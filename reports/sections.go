package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// Sections is a report in parts, for pages that arrange the parts by themselves.
type Sections struct {
	Title   string
	Opening []document.Block // verdicts on all groups
	Groups  []Section
	Closing []document.Block // how to read the tables, and their footnotes
}

// Section is about the points of one message size and guarantee.
type Section struct {
	Name   string // "100 B, at-least-once"
	Points []results.Point
	Blocks []document.Block // without the heading
	Unlike string           // a caution for charts that compare these brokers: some flush to the disk, some don't; empty if they are alike
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
		spec := p.Spec
		guarantee := fmt.Sprintf("%s, persistence %s, %s with acks %s, %s", spec.Delivery, spec.Persistence, plural(spec.Replicas, "replica"), spec.Acks, spec.Ordering)
		if !slices.Contains(asked, guarantee) {
			asked = append(asked, guarantee)
		}
	}
	return "Guarantee asked for: " + strings.Join(asked, "; or ") + "."
}
