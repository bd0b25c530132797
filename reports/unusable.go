// The repetitions that have no usable figure, grouped by reason.

package reports

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// maxCellsNamed is how many cells a row of Unusable names; a broker that can't be started may have hundreds.
const maxCellsNamed = 6

// Unusable lists the repetitions that ended without a usable figure: a heading and a table for each status, with the reasons.
func Unusable(points []results.Point) []document.Block {
	var blocks []document.Block
	for _, s := range []struct {
		status results.Status
		title  string
		means  string
	}{
		{results.Refused, "Refused", "What was asked for and can't be done."},
		{results.Failed, "Failed", "Promises broken, or nothing measured."},
		{results.Void, "Void", "Limited by the generator instead of the broker; part of no conclusion."},
		{results.Aborted, "Aborted", "Interrupted before the end."},
	} {
		if causes := causesOf(points, s.status); len(causes) > 0 {
			blocks = append(blocks, document.Heading{Level: 1, Text: s.title}, document.Paragraph{Text: s.means}, tableOf("", causeColumns, causes))
		}
	}
	return blocks
}

// cause is why repetitions of a contender have no usable figure.
type cause struct {
	contender   string
	reasons     []remark.Remark // at least one; each once; they differ in their figures only
	cells       []string        // in which it happened, each once: "100 B, at-least-once, rate 1k/s"
	repetitions int             // in which it happened
}

// causesOf groups the repetitions with a status by contender and by the form of their reason, in that order.
func causesOf(points []results.Point, status results.Status) []cause {
	var causes []cause
	for _, p := range points {
		for _, r := range p.Records {
			if r.Status != status {
				continue
			}
			reason := r.Why()
			same := func(c cause) bool { return c.contender == p.Name && c.reasons[0].Form() == reason.Form() }
			findOrAdd(&causes, same, cause{contender: p.Name}).add(reason, p.Setting()+", "+p.Load())
		}
	}
	slices.SortFunc(causes, func(a, b cause) int {
		return cmp.Or(cmp.Compare(a.contender, b.contender), cmp.Compare(a.reasons[0].Form(), b.reasons[0].Form()))
	})
	return causes
}

// add counts a repetition that ended for this cause.
func (c *cause) add(reason remark.Remark, cell string) {
	c.repetitions++
	if !slices.ContainsFunc(c.reasons, func(known remark.Remark) bool { return known.Text == reason.Text }) {
		c.reasons = append(c.reasons, reason)
	}
	if !slices.Contains(c.cells, cell) {
		c.cells = append(c.cells, cell)
	}
}

var causeColumns = []columnOf[cause]{
	textColumn(document.Column{Key: "broker", Name: "broker", Row: true}, func(c cause) string { return c.contender }),
	textColumn(document.Column{Key: "reason", Name: "reason", Wide: true}, func(c cause) string { return remark.Join(c.reasons) }),
	textColumn(document.Column{Key: "cells", Name: "cells", Wide: true}, func(c cause) string { return results.FirstFew(c.cells, maxCellsNamed) }),
	numberColumn(document.Column{Key: "n", Name: "repetitions", Unit: unit.Count}, func(c cause) int { return c.repetitions }),
}
