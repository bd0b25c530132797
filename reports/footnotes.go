// The footnotes of tables of results, and what is said once of all their figures. Whatever happened, marks are at most six: one for
// each class of doubts that has marks, one for what was refused, and one for what failed, is void or was aborted. A footnote makes
// each statement once, of the load that it touches most:
//
//	broker     status    sustainable   p99 at 1k/s
//	jetstream  ok          41.2k/s¹      772 µs
//	nats       refused³          –            –
//	rabbitmq   ok          20.2k/s     3.26 ms²
//
//	¹ too short: stopped after 13 trials before the bounds were within 10 % (jetstream, sustainable)
//	² generator: up to 1.7ms of 3.3ms at p99 of the latency end to end may be … (rabbitmq, curve 1k/s and 2 more)
//	³ refused: core NATS keeps no copy of a message (nats)

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// footnotes collects footnotes while a report is built. The zero value is ready to use.
type footnotes struct {
	notes []footnote // in the order of their marks
	once  footnote   // said without a mark
}

// footnote is what one mark stands for.
type footnote struct {
	title      string // "generator", "refused"
	statements []statement
}

// statement is made about one load or more.
type statement struct {
	key   string // of a doubt what it means: statements with the same key are one
	text  string // of the worst
	share float64
	worst load // the first with the largest share
	of    []load
}

// load names a load in a footnote.
type load struct{ name, setting string }

func loadOf(p results.Point, title string) load {
	return load{name: p.Name + ", " + title, setting: p.Setting()}
}

// mark returns the number of the footnote with a title, to which a statement is added.
func (n *footnotes) mark(title string, t statement, of load) int {
	i := slices.IndexFunc(n.notes, func(f footnote) bool { return f.title == title })
	if i < 0 {
		i = len(n.notes)
		n.notes = append(n.notes, footnote{title: title})
	}
	n.notes[i].add(t, of)
	return i + 1
}

func (f *footnote) add(t statement, of load) {
	i := slices.IndexFunc(f.statements, func(known statement) bool { return known.key == t.key })
	if i < 0 {
		t.worst, t.of = of, []load{of}
		f.statements = append(f.statements, t)
		return
	}
	known := &f.statements[i]
	if t.share > known.share {
		known.text, known.share, known.worst = t.text, t.share, of
	}
	known.of = lists.AddNew(known.of, of)
}

// doubted adds to a cell the marks of the doubts about records that touch what it shows. A cell that is blank, or that no conclusion is
// drawn from, gets none.
func (n *footnotes) doubted(c document.Cell, place doubt.Place, records []results.Record, of load) document.Cell {
	return n.doubtedAt(c, place, 0, records, of)
}

// doubtedAt is doubted for a cell with a quantile; 0 if it has none.
func (n *footnotes) doubtedAt(c document.Cell, place doubt.Place, quantile float64, records []results.Record, of load) document.Cell {
	if c.Kind == document.Blank || c.Unused {
		return c
	}
	for _, d := range results.MarkedDoubts(records) {
		if kind := d.Kind(); results.Touches(d, place, quantile, records[0].Spec.ClosedLoop()) {
			c = c.Marked(n.mark(string(kind.Class()), statement{key: kind.Sentence(), text: d.Text, share: d.Share}, of))
		}
	}
	return c
}

// doubtedMetric is doubted for a cell of a metric.
func (n *footnotes) doubtedMetric(c document.Cell, m results.Metric, records []results.Record, of load) document.Cell {
	if place := m.DoubtPlace(); place != doubt.Row {
		return n.doubtedAt(c, place, m.Quantile(), records, of)
	}
	return c
}

// say notes the doubts about a point that are said once.
func (n *footnotes) say(p results.Point) {
	for _, r := range withRates(p.Shown()) {
		for _, d := range r.Doubts {
			if kind := d.Kind(); kind.Place() == doubt.Table {
				n.once.add(statement{key: kind.Sentence(), text: d.Text, share: d.Share}, load{name: p.Name})
			}
		}
	}
}

// blocks are what is said once and the footnotes, to be added at the end of the document.
func (n *footnotes) blocks() []document.Block {
	var d document.Document
	said := lists.Map(n.once.statements, func(t statement) string { return results.Capital(t.text+t.names(false)) + "." })
	if len(said) > 0 {
		d.Say("How it was measured: " + strings.Join(said, " "))
	}
	for i, f := range n.notes {
		d.Add(document.Note{Mark: i + 1, Text: f.title + ": " + n.text(f)})
	}
	return d.Blocks
}

// mostStatements is how many statements a footnote makes; the report doubts has all.
const mostStatements = 3

func (n *footnotes) text(f footnote) string {
	several := n.severalSettings()
	words := lists.Map(f.statements[:min(mostStatements, len(f.statements))], func(t statement) string { return t.text + t.names(several) })
	if more := len(f.statements) - mostStatements; more > 0 {
		words = append(words, fmt.Sprintf("and %d more, see brokermark report doubts", more))
	}
	return strings.Join(words, "; ")
}

// names is the load that a statement is about, and the number of others: " (kafka, rate 1k/s, and 2 more)".
func (t statement) names(setting bool) string {
	name := t.worst.name
	if setting {
		name += ", " + t.worst.setting
	}
	if more := len(t.of) - 1; more > 0 {
		name += fmt.Sprintf(", and %d more", more)
	}
	return " (" + name + ")"
}

// severalSettings reports whether the loads that the footnotes name differ in size or guarantee.
func (n *footnotes) severalSettings() bool {
	statements := lists.Flat(n.notes, func(f footnote) []statement { return f.statements })
	loads := lists.Flat(statements, func(t statement) []load { return t.of })
	return slices.ContainsFunc(loads, func(l load) bool { return l.setting != loads[0].setting })
}
