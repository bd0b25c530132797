// The texts of a report's page, from top to bottom:
//
//	At a glance            charts of the head-to-head: what each broker sustains, at which latency and cost
//	                       verdicts, as cards: "kafka sustains more than nats"
//	Who kept its promise   what was lost in spite of a guarantee, after faults
//	Recommended settings
//	In figures             the head-to-head: a table for each message size and guarantee, a row for each broker
//	                       (the figures, which the front end draws)
//	                       why points have no figure
//	Every point            a row for each
//	All doubts             also those without a mark, folded away

package page

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/reports"
)

// texts are the HTML of a page above its figures and below them.
type texts struct{ above, below string }

// section is a part of a page below a heading of its own.
type section struct {
	title  string
	about  string           // a sentence below the title; empty if it needs none
	blocks []document.Block // the section is left out if there are none
	// notePrefix begins the anchors of its footnotes, as "h" does in "h-note-1". Footnotes of every section are numbered
	// from 1, so sections of one page need different prefixes.
	notePrefix string
}

func (s section) html() string {
	if len(s.blocks) == 0 {
		return ""
	}
	out := fmt.Sprintf("<h2>%s</h2>\n", html.EscapeString(s.title))
	if s.about != "" {
		out += fmt.Sprintf("<p class=\"about\">%s</p>\n", html.EscapeString(s.about))
	}
	return out + render.Fragment(s.blocks, s.notePrefix, 3)
}

// The reports, by their names in package reports, that parts of a page are made of.
const (
	pointsReport    = "points"
	promiseReport   = "promise"
	recommendReport = "recommend"
	doubtsReport    = "doubts"
)

func compose(s Source) (texts, error) {
	set := s.Set
	summary, headToHead := reports.Summary(set), reports.HeadToHead(set)
	opening := charts(headToHead, set.Points) + cards(summary.Opening)
	if len(set.Points) == 0 {
		return texts{above: opening}, nil
	}
	promises, err := s.tablesOf(promiseReport)
	if err != nil {
		return texts{}, err
	}
	advice, err := s.tablesOf(recommendReport)
	if err != nil {
		return texts{}, err
	}
	comparison := withGuarantees(headToHead)
	promised := section{title: "Who kept its promise", blocks: fromFirstHeading(promises), notePrefix: "k"}
	recommended := section{title: "Recommended settings", blocks: withoutShown(advice, summary.Opening), notePrefix: "r"}
	compared := section{
		title: "In figures", about: "Who sustains what, at which latency and cost, under which guarantee.",
		blocks: withoutShown(comparison, summary.Opening), notePrefix: "h",
	}
	doubts, err := s.tablesOf(doubtsReport)
	if err != nil {
		return texts{}, err
	}
	everyPoint := section{title: "Every point", blocks: withoutShown(summary.Body(), comparison), notePrefix: "s"}
	return texts{
		above: opening + promised.html() + recommended.html() + compared.html(),
		below: render.Fragment(reports.Unusable(set.Points), "m", 2) + everyPoint.html() + folded("All doubts", doubts),
	}, nil
}

// folded returns blocks behind a title that opens them. The result is empty if there are none.
func folded(title string, blocks []document.Block) string {
	if len(blocks) == 0 {
		return ""
	}
	return fmt.Sprintf("<details><summary>%s</summary>\n%s</details>\n", html.EscapeString(title), render.Fragment(blocks, "d", 3))
}

// fromFirstHeading leaves out the sentences before the first heading; without a heading, none. Those of the promise report count its
// verdicts, as the opening of the page does.
func fromFirstHeading(blocks []document.Block) []document.Block {
	first := slices.IndexFunc(blocks, func(b document.Block) bool {
		_, isHeading := b.(document.Heading)
		return isHeading
	})
	return blocks[max(0, first):]
}

// tablesOf builds a report by its name. It has no blocks if the report has no table, only the sentence that says why.
func (s Source) tablesOf(name string) ([]document.Block, error) {
	if err := s.ended(); err != nil {
		return nil, err
	}
	d, err := buildReport(name, s.Set)
	if err != nil || len(d.Tables()) == 0 {
		return nil, err
	}
	return d.Blocks, nil
}

func buildReport(name string, set *results.Set) (document.Document, error) {
	r, err := reports.Lookup(name)
	if err != nil {
		return document.Document{}, err
	}
	return r.Build(set)
}

// withGuarantees returns a report whose groups begin with the guarantee that was asked for.
func withGuarantees(s reports.Sections) []document.Block {
	s.Groups = slices.Clone(s.Groups)
	for i, g := range s.Groups {
		asked := document.Paragraph{Text: g.Guarantees()}
		s.Groups[i].Blocks = append([]document.Block{asked}, g.Blocks...)
	}
	return s.Document().Blocks
}

// withoutShown leaves out what the page shows elsewhere: verdicts, which have cards, and paragraphs and warnings with the words of a
// block in shown.
func withoutShown(blocks, shown []document.Block) []document.Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b document.Block) bool {
		switch b.(type) {
		case document.Verdict:
			return true
		case document.Paragraph, document.Warning:
			sameWords := func(o document.Block) bool { return document.Worded(o) == document.Worded(b) }
			return slices.ContainsFunc(shown, sameWords)
		}
		return false
	})
}

// maxOpenGroups is how many groups of a head-to-head a page opens with; the others are folded away below them.
const maxOpenGroups = 2

// charts draws the charts of a head-to-head, a group for each message size and guarantee: the sustainable rate of every contender,
// its latency at fixed rates, and its cost. It is empty if there is nothing to draw.
func charts(headToHead reports.Sections, points []results.Point) string {
	var groups []string
	colour := colours(points)
	for _, g := range headToHead.Groups {
		group := ""
		for _, t := range (document.Document{Blocks: g.Blocks}).Tables() {
			group += render.Charts(t, colour)
		}
		if group == "" {
			continue
		}
		if g.Caution != "" {
			group += render.Fragment([]document.Block{document.Paragraph{Text: g.Caution}}, "g", 3)
		}
		heading := document.Heading{Level: 1, Text: g.Name}
		groups = append(groups, render.Fragment([]document.Block{heading}, "g", 3)+group)
	}
	if len(groups) == 0 {
		return ""
	}
	open := min(len(groups), maxOpenGroups)
	out := "<h2>At a glance</h2>\n" + strings.Join(groups[:open], "")
	if folded := groups[open:]; len(folded) > 0 {
		out += fmt.Sprintf("<details><summary>More sizes and guarantees (%d)</summary>\n%s</details>\n", len(folded), strings.Join(folded, ""))
	}
	return out
}

// colourCount is how many colours page.css has for names: --c0 to --c7.
const colourCount = 8

// colours numbers the colour of each name, as the front end does (web/src/style.ts): a contender has one colour everywhere on a page.
func colours(points []results.Point) func(name string) int {
	names := results.Names(points)
	return func(name string) int { return max(0, slices.Index(names, name)) % colourCount }
}

// cards writes verdicts as cards, and other blocks as they are.
func cards(blocks []document.Block) string {
	var out strings.Builder
	for _, b := range blocks {
		if v, ok := b.(document.Verdict); ok {
			out.WriteString(card(v))
		} else {
			out.WriteString(render.Fragment([]document.Block{b}, "v", 2))
		}
	}
	return out.String()
}

func card(v document.Verdict) string {
	blocks := []document.Block{document.Heading{Level: 2, Text: v.About}, document.Paragraph{Text: v.Finding}}
	if v.Detail != "" {
		blocks = append(blocks, document.Paragraph{Text: v.Detail})
	}
	return "<article class=\"verdict\">\n" + render.Fragment(blocks, "v", 2) + "</article>\n"
}

// verdictsFirst writes the verdicts of a comparison as cards before everything else.
func verdictsFirst(blocks []document.Block) string {
	var verdicts, others []document.Block
	for _, b := range blocks {
		if _, ok := b.(document.Verdict); ok {
			verdicts = append(verdicts, b)
		} else {
			others = append(others, b)
		}
	}
	if verdicts == nil {
		return render.Fragment(blocks, "d", 2)
	}
	return "<h2>Verdict</h2>\n" + cards(verdicts) + section{title: "In figures", blocks: others, notePrefix: "d"}.html()
}
