// What is needed to repeat each point, for the front end.

package page

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// instructions are what is needed to repeat all points.
type instructions struct {
	points []repeating
	lines  []string // of all listings, each once
}

// repeating is what is needed to repeat a point.
type repeating struct {
	Heading string    `json:"heading"`
	Parts   []passage `json:"parts"`
}

// passage is a paragraph (Text) or a listing (Lines).
type passage struct {
	Text string `json:"text,omitempty"`
	// Lines are runs of consecutive lines of data.Lines: first index, count, first index, count, …
	Lines []int `json:"lines,omitempty"`
}

// add appends a line to a listing, by its index.
func (p *passage) add(line int) {
	if n := len(p.Lines); n > 0 && p.Lines[n-2]+p.Lines[n-1] == line {
		p.Lines[n-1]++ // it follows the last one
		return
	}
	p.Lines = append(p.Lines, line, 1)
}

// instructionsOf is the report of points. Its listings share their lines, because the specs of one study differ in two lines of
// seventy.
func instructionsOf(set *results.Set) (instructions, error) {
	report, err := built("points", set)
	if err != nil {
		return instructions{}, fmt.Errorf("what is needed to repeat the points: %w", err)
	}
	points, lines := []repeating{}, newIndexed[string]()
	for _, b := range report.Blocks {
		if h, ok := b.(document.Heading); ok {
			points = append(points, repeating{Heading: h.Text})
			continue
		}
		if len(points) == 0 {
			continue // a sentence about all points
		}
		last := &points[len(points)-1]
		switch b := document.Worded(b).(type) {
		case document.Paragraph:
			last.Parts = append(last.Parts, passage{Text: b.Text})
		case document.Listing:
			var listing passage
			for line := range strings.Lines(b.Text) {
				listing.add(lines.index(line))
			}
			last.Parts = append(last.Parts, listing)
		}
	}
	return instructions{points: points, lines: lines.values}, nil
}
