package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/reports"
)

// compose writes what stands above and below the figures.
func compose(set *results.Set) (lead, rest string, err error) {
	summary, err := built("summary", set)
	if err != nil {
		return "", "", err
	}
	duel, err := built("headtohead", set)
	if err != nil {
		return "", "", err
	}
	verdict, tables := opening(summary.Blocks)
	points := set.Points
	lead = picture(duel.Blocks, points) + verdicts(verdict)
	if len(points) == 0 {
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
		lead += "<h2>Recommended settings</h2>\n" + render.Fragment(unsaid(advice.Blocks, verdict), "r", 3)
	}
	lead += "<h2>In figures</h2>\n<p class=\"about\">Who sustains what, at which latency and cost, under which guarantee.</p>\n"
	lead += render.Fragment(withGuarantees(unsaid(duel.Blocks, verdict), points), "h", 3)
	rest = render.Fragment(missing(points), "m", 2)
	rest += "<h2>Every point</h2>\n" + render.Fragment(unsaid(tables, duel.Blocks), "s", 3)
	return lead, rest, nil
}

// mostPictured is how many settings a page opens with; the others are folded away below them.
const mostPictured = 2

// picture draws the tables of a head-to-head: what every contender sustains, its latency at fixed rates, and its cost.
func picture(duel []document.Block, points []results.Point) string {
	var drawn []string
	heading := ""
	colour := colours(points)
	for _, b := range duel {
		switch b := b.(type) {
		case document.Heading:
			heading = render.Fragment([]document.Block{b}, "g", 3)
		case document.Table:
			if charts := render.Charts(b, colour); charts != "" {
				drawn = append(drawn, heading+charts)
			}
		}
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

// opening parts the summary into what is said before its first table's heading and the rest.
func opening(blocks []document.Block) (verdict, tables []document.Block) {
	first := slices.IndexFunc(blocks, func(b document.Block) bool { _, ok := b.(document.Table); return ok })
	if first < 0 {
		return blocks, nil
	}
	for i := first - 1; i >= 0; i-- { // what stands between a heading and its table belongs to both
		switch blocks[i].(type) {
		case document.Heading:
			return blocks[:i], blocks[i:]
		case document.Paragraph:
			continue
		}
		break
	}
	return blocks[:first], blocks[first:]
}

// unsaid drops the verdicts, which stand in cards, and the sentences that earlier blocks hold already.
func unsaid(blocks, earlier []document.Block) []document.Block {
	var said []string
	for _, b := range earlier {
		said = append(said, sentence(b))
	}
	return slices.DeleteFunc(slices.Clone(blocks), func(b document.Block) bool {
		if _, ok := b.(document.Verdict); ok {
			return true
		}
		text := sentence(b)
		return text != "" && slices.Contains(said, text)
	})
}

// sentence is the text of a paragraph or a warning, "" of any other block.
func sentence(b document.Block) string {
	switch b := b.(type) {
	case document.Paragraph:
		return b.Text
	case document.Warning:
		return b.Text()
	}
	return ""
}

// verdicts sets verdicts as cards: what they are about, the finding, then what else there is to say.
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

// findings sets what a comparison found before the figures it rests on.
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

// withGuarantees adds below the heading of every group what its brokers had to guarantee.
func withGuarantees(blocks []document.Block, points []results.Point) []document.Block {
	guarantees := map[string][]string{}
	for _, p := range points {
		s := p.Spec
		replicas := "1 replica"
		if s.Replicas != 1 {
			replicas = fmt.Sprintf("%d replicas", s.Replicas)
		}
		text := fmt.Sprintf("%s, persistence %s, %s with acks %s, %s", s.Delivery, s.Persistence, replicas, s.Acks, s.Ordering)
		if known := guarantees[p.Setting()]; !slices.Contains(known, text) {
			guarantees[p.Setting()] = append(known, text)
		}
	}
	var out []document.Block
	for _, b := range blocks {
		out = append(out, b)
		if h, ok := b.(document.Heading); ok && guarantees[h.Text] != nil {
			out = append(out, document.Paragraph{Text: "Guarantee asked for: " + strings.Join(guarantees[h.Text], "; or ") + "."})
		}
	}
	return out
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

func missingTable(points []results.Point, status store.Status) document.Table {
	t := document.Table{Columns: []document.Column{
		{Key: "broker", Name: "broker", Row: true},
		{Key: "reason", Name: "reason", Wide: true},
		{Key: "cells", Name: "cells", Wide: true},
		{Key: "n", Name: "repetitions", Unit: unit.Count},
	}}
	type cause struct{ name, reason string } // the reason without its figures
	cells, count, texts := map[cause][]string{}, map[cause]int{}, map[cause][]string{}
	for _, p := range points {
		for _, r := range p.Records {
			if r.Status != status {
				continue
			}
			c := cause{p.Name, document.Alike(r.Reason)}
			count[c]++
			if !slices.Contains(texts[c], r.Reason) {
				texts[c] = append(texts[c], r.Reason)
			}
			if cell := p.Setting() + ", " + p.Load(); !slices.Contains(cells[c], cell) {
				cells[c] = append(cells[c], cell)
			}
		}
	}
	causes := slices.SortedFunc(maps.Keys(cells), func(a, b cause) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.reason, b.reason))
	})
	for _, c := range causes {
		t.Rows = append(t.Rows, document.Row{
			"broker": document.Text(c.name),
			"reason": document.Text(few(texts[c], 1)),
			"cells":  document.Text(few(cells[c], 6)),
			"n":      document.Number(count[c]),
		})
	}
	return t
}

func few(texts []string, most int) string {
	out := strings.Join(texts[:min(len(texts), most)], "; ")
	if more := len(texts) - most; more > 0 {
		out += fmt.Sprintf("; and %d more like it", more)
	}
	return out
}

// origin says in a line when, where and with what the records were made.
func origin(s Source) string {
	if !s.figures() {
		return ""
	}
	records := s.Set.Records
	first, last := records[0].Began, records[0].Began
	hosts, studies := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		if r.Began.Before(first) {
			first = r.Began
		}
		if r.Began.After(last) {
			last = r.Began
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
		parts = append(parts, "Study "+some(names))
	}
	if !first.IsZero() {
		day := first.UTC().Format(time.DateOnly)
		if end := last.UTC().Format(time.DateOnly); end != day {
			day += " to " + end
		}
		parts = append(parts, day)
	}
	if len(hosts) > 0 {
		parts = append(parts, "on "+some(slices.Sorted(maps.Keys(hosts))))
	}
	if s.Tool != "" {
		parts = append(parts, "brokermark "+s.Tool)
	}
	return strings.Join(parts, " · ")
}

func some(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
