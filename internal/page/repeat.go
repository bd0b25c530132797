// How to repeat each point: the points report in a form for the front end. Its listings share their lines, because the
// specs of one study differ in two lines of seventy. Two listings "a b c" and "a x c" become
//
//	lines:    a, b, c, x
//	listings: [0, 3] (from line 0, three lines) and [0, 1, 3, 1, 2, 1] (lines 0, 3 and 2, one each)

package page

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// instructions say how to repeat each point.
type instructions struct {
	Repeat []pointInstructions `json:"repeat"`
	Lines  []string            `json:"lines"` // of all listings, each once
}

// pointInstructions are the part of the report about one point.
type pointInstructions struct {
	Heading string             `json:"heading"`
	Parts   []instructionsPart `json:"parts"`
}

// instructionsPart is a paragraph or a listing. One of the fields is empty.
type instructionsPart struct {
	Paragraph string     `json:"text,omitempty"`
	Listing   lineRanges `json:"lines,omitempty"`
}

// lineRanges are the lines of a listing as [first, count, first, count, …]: lines 0, 1, 2 and 7 are [0, 3, 7, 1].
type lineRanges []int

func (r *lineRanges) add(index int) {
	ranges := *r
	if n := len(ranges); n > 0 {
		first, count := ranges[n-2], ranges[n-1]
		if index == first+count {
			ranges[n-1]++
			return
		}
	}
	*r = append(ranges, index, 1)
}

// instructionsOf splits the points report at its headings, of which every point has one.
func instructionsOf(set *results.Set) (instructions, error) {
	report, err := buildReport(pointsReport, set)
	if err != nil {
		return instructions{}, fmt.Errorf("how to repeat the points: %w", err)
	}
	points := []pointInstructions{}
	lines := newIndexedSet[string]()
	for _, block := range report.Blocks {
		if heading, ok := block.(document.Heading); ok {
			points = append(points, pointInstructions{Heading: heading.Text})
			continue
		}
		if len(points) == 0 {
			continue // it is about all points
		}
		var part instructionsPart
		switch b := document.Worded(block).(type) {
		case document.Paragraph:
			part.Paragraph = b.Text
		case document.Listing:
			for line := range strings.Lines(b.Text) {
				part.Listing.add(lines.add(line))
			}
		default:
			return instructions{}, fmt.Errorf("how to repeat the points: a page can't show a %T of the points report", block)
		}
		last := &points[len(points)-1]
		last.Parts = append(last.Parts, part)
	}
	return instructions{Repeat: points, Lines: lines.values}, nil
}
