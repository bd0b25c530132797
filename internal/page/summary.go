package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/reports"
)

// compose writes the HTML above the figures (lead) and below them (rest).
func compose(set *results.Set) (lead, rest string, err error) {
	summary, duel := reports.Summary(set), reports.HeadToHead(set)
	lead = picture(duel, set.Points) + verdicts(summary.Opening)
	if len(set.Points) == 0 {
		return lead, "", nil
	}
	kept, err := built("promise", set)
	if err != nil {
		return "", "", err
	}
	if len(kept.Tables()) > 0 {
		lead += "<h2>Who kept its promise</h2>\n" + render.Fragment(kept.Blocks[1:], "k", 3)
	}
	advice, err := built("recommend", set)
	if err != nil {
		return "", "", err
	}
	if len(advice.Tables()) > 0 {
		lead += "<h2>Recommended settings</h2>\n" + render.Fragment(further(advice.Blocks, summary.Opening), "r", 3)
	}
	for i, s := range duel.Groups {
		asked := document.Paragraph{Text: guarantees(s.Points)}
		duel.Groups[i].Blocks = append([]document.Block{asked}, s.Blocks...)
	}
	lead += "<h2>In figures</h2>\n<p class=\"about\">Who sustains what, at which latency and cost, under which guarantee.</p>\n"
	lead += render.Fragment(further(duel.Document().Blocks, summary.Opening), "h", 3)
	rest = render.Fragment(missing(set.Points), "m", 2)
	rest += "<h2>Every point</h2>\n" + render.Fragment(further(summary.Body(), duel.Document().Blocks), "s", 3)
	return lead, rest, nil
}

// mostPictured is how many groups of a head-to-head a page opens with; the others are folded away below them.
const mostPictured = 2

// picture draws the tables of a head-to-head: the sustainable rate of every contender, its latency at fixed rates, and its cost.
func picture(duel reports.Sections, points []results.Point) string {
	var drawn []string
	colour := colours(points)
	for _, s := range duel.Groups {
		charts := ""
		for _, t := range (document.Document{Blocks: s.Blocks}).Tables() {
			charts += render.Charts(t, colour)
		}
		if charts == "" {
			continue
		}
		if s.Unlike != "" {
			charts += render.Fragment([]document.Block{document.Paragraph{Text: s.Unlike}}, "g", 3)
		}
		drawn = append(drawn, render.Fragment([]document.Block{document.Heading{Level: 1, Text: s.Name}}, "g", 3)+charts)
	}
	if drawn == nil {
		return ""
	}
	first, rest := drawn[:min(len(drawn), mostPictured)], drawn[min(len(drawn), mostPictured):]
	out := "<h2>At a glance</h2>\n" + strings.Join(first, "")
	if len(rest) > 0 {
		out += fmt.Sprintf("<details><summary>%d more sizes and guarantees</summary>\n%s</details>\n", len(rest), strings.Join(rest, ""))
	}
	return out
}

// colours are the page's colours of names (--c0 to --c7 in page.css), as the front end gives them (web/src/style.ts).
func colours(points []results.Point) func(name string) int {
	const many = 8
	names := results.Names(points)
	return func(name string) int { return max(0, slices.Index(names, name)) % many }
}

func built(name string, set *results.Set) (document.Document, error) {
	r, err := reports.Lookup(name)
	if err != nil {
		return document.Document{}, err
	}
	return r.Build(set)
}

// further leaves out verdicts, which stand in cards, and paragraphs and warnings that the page has shown already.
func further(blocks, shown []document.Block) []document.Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b document.Block) bool {
		same := func(o document.Block) bool { return document.Worded(o) == document.Worded(b) }
		switch b.(type) {
		case document.Verdict:
			return true
		case document.Paragraph, document.Warning:
			return slices.ContainsFunc(shown, same)
		}
		return false
	})
}

// verdicts sets verdicts as cards, and other blocks as they are.
func verdicts(blocks []document.Block) string {
	var out strings.Builder
	for _, b := range blocks {
		if v, ok := b.(document.Verdict); ok {
			out.WriteString(card(v))
			continue
		}
		out.WriteString(render.Fragment([]document.Block{b}, "v", 2))
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

// findings sets the verdicts of a comparison before its tables.
func findings(blocks []document.Block) string {
	var cards strings.Builder
	figures := slices.DeleteFunc(slices.Clone(blocks), func(b document.Block) bool {
		v, ok := b.(document.Verdict)
		if ok {
			cards.WriteString(card(v))
		}
		return ok
	})
	if cards.Len() == 0 {
		return render.Fragment(blocks, "d", 2)
	}
	return "<h2>Verdict</h2>\n" + cards.String() + "<h2>In figures</h2>\n" + render.Fragment(figures, "d", 3)
}

// guarantees names the guarantees that the brokers of a section had to keep.
func guarantees(points []results.Point) string {
	var asked []string
	for _, p := range points {
		s := p.Spec
		replicas := "1 replica"
		if s.Replicas != 1 {
			replicas = fmt.Sprintf("%d replicas", s.Replicas)
		}
		text := fmt.Sprintf("%s, persistence %s, %s with acks %s, %s", s.Delivery, s.Persistence, replicas, s.Acks, s.Ordering)
		if !slices.Contains(asked, text) {
			asked = append(asked, text)
		}
	}
	return "Guarantee asked for: " + strings.Join(asked, "; or ") + "."
}

// missing lists the cells without a usable figure, with the reason each has none.
func missing(points []results.Point) []document.Block {
	titles := []struct {
		status store.Status
		title  string
		means  string
	}{
		{store.Refused, "Refused", "What was asked for and can't be done."},
		{store.Failed, "Failed", "Promises broken, or nothing measured."},
		{store.Void, "Void", "Limited by the generator instead of the broker; part of no conclusion."},
		{store.Aborted, "Aborted", "Interrupted before the end."},
	}
	var blocks []document.Block
	for _, t := range titles {
		table := missingTable(points, t.status)
		if len(table.Rows) > 0 {
			blocks = append(blocks, document.Heading{Level: 1, Text: t.title}, document.Paragraph{Text: t.means}, table)
		}
	}
	return blocks
}

// cause is why repetitions of a contender have no usable figure.
type cause struct {
	name        string
	reasons     []remark.Remark // of one form, each once
	cells       []string        // each once
	repetitions int
}

// causesOf groups the repetitions of a status by contender and by the form of their reason.
func causesOf(points []results.Point, status store.Status) []*cause {
	var causes []*cause
	for _, p := range points {
		for _, r := range p.Records {
			if r.Status != status {
				continue
			}
			why := r.Why()
			i := slices.IndexFunc(causes, func(c *cause) bool { return c.name == p.Name && c.reasons[0].Form() == why.Form() })
			if i < 0 {
				i = len(causes)
				causes = append(causes, &cause{name: p.Name, reasons: []remark.Remark{why}})
			}
			c := causes[i]
			c.repetitions++
			if !slices.ContainsFunc(c.reasons, func(o remark.Remark) bool { return o.Text == why.Text }) {
				c.reasons = append(c.reasons, why)
			}
			if cell := p.Setting() + ", " + p.Load(); !slices.Contains(c.cells, cell) {
				c.cells = append(c.cells, cell)
			}
		}
	}
	slices.SortFunc(causes, func(a, b *cause) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.reasons[0].Form(), b.reasons[0].Form()))
	})
	return causes
}

func missingTable(points []results.Point, status store.Status) document.Table {
	t := document.Table{Columns: []document.Column{
		{Key: "broker", Name: "broker", Row: true},
		{Key: "reason", Name: "reason", Wide: true},
		{Key: "cells", Name: "cells", Wide: true},
		{Key: "n", Name: "repetitions", Unit: unit.Count},
	}}
	for _, c := range causesOf(points, status) {
		t.Rows = append(t.Rows, document.Row{
			"broker": document.Text(c.name),
			"reason": document.Text(remark.Join(c.reasons)),
			"cells":  document.Text(some(c.cells, 6)),
			"n":      document.Number(c.repetitions),
		})
	}
	return t
}

// origin says in a line when, where and with what the records were made.
func origin(s Source) string {
	if !s.figures() {
		return ""
	}
	records := s.Set.Records
	var days []string // in which records were made; of results from elsewhere it may not be known
	hosts, studies := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		if !r.Began.IsZero() {
			days = append(days, r.Began.UTC().Format(time.DateOnly))
		}
		if r.Host.Cores > 0 { // else it is not known, as of results from elsewhere
			hosts[fmt.Sprintf("%s (%d cores, %s)", r.Host.Name, r.Host.Cores, r.Host.CPU)] = true
		}
		if r.Study != "" {
			studies[r.Study] = true
		}
	}
	var parts []string
	if names := slices.Sorted(maps.Keys(studies)); len(names) > 0 {
		parts = append(parts, "Study "+some(names, 3))
	}
	if len(days) > 0 {
		span := slices.Min(days)
		if last := slices.Max(days); last != span {
			span += " to " + last
		}
		parts = append(parts, span)
	}
	if len(hosts) > 0 {
		parts = append(parts, "on "+some(slices.Sorted(maps.Keys(hosts)), 3))
	}
	if s.Tool != "" {
		parts = append(parts, "brokermark "+s.Tool)
	}
	return strings.Join(parts, " · ")
}

// some names the first and counts the others.
func some(names []string, most int) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
