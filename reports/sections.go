package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// Sections is a report over groups of points, in its parts: pages set them in an order of their own.
type Sections struct {
	Title   string
	Opening []document.Block // the verdicts
	Groups  []Section
	Closing []document.Block // how to read the tables, and their footnotes
}

// Section is about the points of one message size and guarantee.
type Section struct {
	Name   string
	Points []results.Point
	Blocks []document.Block // below the heading
	Unlike string           // what the compared brokers did differently, which a chart of them must not keep silent; "" if nothing
}

// Document is the whole report.
func (s Sections) Document() document.Document {
	d := document.Document{Title: s.Title}
	d.Add(s.Opening...)
	d.Add(s.Body()...)
	return d
}

// Body is all that follows the opening.
func (s Sections) Body() []document.Block {
	var blocks []document.Block
	for _, g := range s.Groups {
		blocks = append(append(blocks, document.Heading{Level: 1, Text: g.Name}), g.Blocks...)
	}
	return slices.Concat(blocks, s.Closing)
}
