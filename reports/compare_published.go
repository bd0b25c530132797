package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// anyPublished tells that a side holds figures of a publication.
func (s Side) anyPublished() bool { return slices.ContainsFunc(s.Set.Points, results.Point.Published) }

// place is the place of a point in its study, whichever versions it was measured with: a point that a paper ran for a minute and we
// for seconds was given other work, and yet it has the same place.
func place(p results.Point) string {
	r := p.Records[0]
	words := []string{r.Study}
	for _, axis := range slices.Sorted(maps.Keys(r.Axes)) {
		if axis != "when" && axis != "version" {
			words = append(words, axis+"="+r.Axes[axis])
		}
	}
	return strings.Join(words, " ")
}

func (p pair) published() bool {
	return slices.ContainsFunc(slices.Concat(p.points[0], p.points[1]), results.Point.Published)
}

// besidePublished sets figures of a publication beside the other side's, without a test.
func (p pair) besidePublished() []document.Block {
	var sides [2][]results.Record
	for side, points := range p.points {
		for _, point := range points {
			sides[side] = append(sides[side], point.Ok()...)
			if point.Published() {
				sides[side] = append(sides[side], point.Records...)
			}
		}
	}
	t := document.Table{Columns: []document.Column{
		{Key: "metric", Name: "metric", Row: true},
		{Key: "first", Name: p.names[0], Spread: true},
		{Key: "second", Name: p.names[1], Spread: true},
		{Key: "ratio", Name: "ratio", Unit: unit.Factor},
		{Key: "first_n", Unit: unit.Count, Data: true},
		{Key: "second_n", Unit: unit.Count, Data: true},
	}}
	for _, m := range results.Metrics {
		m = m.AsRecorded()
		a, b := m.Over(sides[0]), m.Over(sides[1])
		if a.N == 0 || b.N == 0 {
			continue
		}
		row := document.Row{
			"metric": document.Text(m.Name), "first": a.Cell().In(m.Unit), "second": b.Cell().In(m.Unit),
			"first_n": document.Number(a.N), "second_n": document.Number(b.N),
		}
		if a.Median > 0 {
			row["ratio"] = document.Number(b.Median / a.Median)
		}
		t.Rows = append(t.Rows, row)
	}
	blocks := []document.Block{document.Heading{Level: 1, Text: p.title}}
	if len(t.Rows) == 0 {
		return append(blocks, document.Paragraph{Text: fmt.Sprintf("No figure is known of both %s and %s.", p.names[0], p.names[1])})
	}
	return append(blocks, t)
}
