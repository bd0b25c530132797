// The repetitions without a usable figure, by how they ended and why:
//
//	Refused
//	broker   reason                        cells                                   repetitions
//	nats     persistence log: has no log   100 B, at-least-once, rate 1k/s and …   6

package reports

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// Unusable lists the repetitions that ended without a usable figure: a heading and a table for each
// status, with the reasons.
func Unusable(points []results.Point) []document.Block {
	var blocks []document.Block
	for _, s := range unusableStatuses {
		causes := causesOf(points, s.status)
		if len(causes) == 0 {
			continue
		}
		blocks = append(blocks,
			document.Heading{Level: 1, Text: s.title}, document.Paragraph{Text: s.meaning}, tableOf("", causeColumns, causes))
	}
	return blocks
}

var unusableStatuses = []struct {
	status         results.Status
	title, meaning string
}{
	{status: results.Refused, title: "Refused", meaning: "What was asked for and can't be done."},
	{status: results.Failed, title: "Failed", meaning: "Promises broken, or nothing measured."},
	{status: results.Void, title: "Void", meaning: "Limited by the generator instead of the broker; part of no conclusion."},
	{status: results.Aborted, title: "Aborted", meaning: "Interrupted before the end."},
}

// cause is why repetitions of a contender have no usable figure.
type cause struct {
	contender   string          // the name of its points
	reasons     []remark.Remark // each text once; they differ in their figures only
	loads       []string        // under which it happened, each once: "100 B, at-least-once, rate 1k/s"
	repetitions int             // in which it happened
}

// causesOf lists the causes of the repetitions with a status, by contender and by the form of their reason:
// its text without the figures, which differ from one repetition to the next.
func causesOf(points []results.Point, status results.Status) []cause {
	type repetition struct {
		contender, load string
		reason          remark.Remark
	}
	var repetitions []repetition
	for _, p := range points {
		for _, r := range p.Records {
			if r.Status == status {
				load := p.Setting() + ", " + p.Load()
				repetitions = append(repetitions, repetition{contender: p.Name, load: load, reason: r.Why()})
			}
		}
	}
	var causes []cause
	byCause := func(r repetition) string { return r.contender + "\x00" + r.reason.Form() }
	for _, g := range results.GroupBy(repetitions, byCause) {
		c := cause{contender: g.Members[0].contender, repetitions: len(g.Members)}
		for _, r := range g.Members {
			isKnown := slices.ContainsFunc(c.reasons, func(known remark.Remark) bool { return known.Text == r.reason.Text })
			if !isKnown {
				c.reasons = append(c.reasons, r.reason)
			}
			c.loads = lists.AddNew(c.loads, r.load)
		}
		causes = append(causes, c)
	}
	slices.SortStableFunc(causes, func(a, b cause) int {
		return cmp.Or(cmp.Compare(a.contender, b.contender), cmp.Compare(a.reasons[0].Form(), b.reasons[0].Form()))
	})
	return causes
}

// maxLoadsOfCause is how many loads a row names. A broker that can't be started may have hundreds.
const maxLoadsOfCause = 6

var causeColumns = []columnOf[cause]{
	textColumn(document.Column{Key: "broker", Name: "broker", Identifies: true}, func(c cause) string { return c.contender }),
	textColumn(document.Column{Key: "reason", Name: "reason", Wide: true}, func(c cause) string { return remark.Merge(c.reasons) }),
	textColumn(document.Column{Key: "cells", Name: "cells", Wide: true},
		func(c cause) string { return results.FirstFew(c.loads, maxLoadsOfCause) }),
	numberColumn(document.Column{Key: "n", Name: "repetitions", Unit: unit.Count}, func(c cause) int { return c.repetitions }),
}
