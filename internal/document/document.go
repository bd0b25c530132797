// Package document is a report before it is rendered: headings, sentences, verdicts, and tables with typed columns. It
// knows neither the content of reports nor any format.
//
// A table's row may lack cells. What it lacks is blank, which is never the same as 0; see the example of Document.
package document

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
)

// Document is a report before it is rendered. Its texts may come from anywhere and hold anything: every renderer
// makes them harmless for its own format.
type Document struct {
	Title  string
	Blocks []Block
}

// Block is a part of a document: Heading, Paragraph, Verdict, Warning, Table, Drawing, Note or Listing.
type Block interface{ block() }

// Heading starts a section; Level 1 is the largest below the title.
type Heading struct {
	Level int
	Text  string
}

// Paragraph is running text.
type Paragraph struct{ Text string }

// Verdict is a conclusion.
type Verdict struct {
	About   string // "100 B, at-least-once"
	Finding string // in a sentence, or two
	Detail  string // further sentences
	Headed  bool   // the heading above is its title
}

// Text returns the verdict as running text.
func (v Verdict) Text() string {
	about := ""
	if v.About != "" && !v.Headed {
		about = v.About + ". "
	}
	return strings.TrimSpace(about + v.Finding + " " + v.Detail)
}

// Warning says that pooled or compared records differ in facts that were not named as the difference.
type Warning struct {
	About  string   // "the compared records"
	Differ []string // the facts with their values: "host.cores: 2, 8"
}

// Text returns the warning as running text, which quotes the first few facts and counts the others.
func (w Warning) Text() string {
	const most = 6
	text := strings.Join(w.Differ[:min(len(w.Differ), most)], "; ")
	if more := len(w.Differ) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("Warning: %s differ in what was not named as the difference: %s.", w.About, text)
}

// Worded turns a verdict, a warning or a drawing into a paragraph, for renderers that have no other form for it. Other blocks stay as they
// are.
func Worded(b Block) Block {
	switch b := b.(type) {
	case Verdict:
		return Paragraph{Text: b.Text()}
	case Warning:
		return Paragraph{Text: b.Text()}
	case Drawing:
		return Paragraph{Text: b.Text()}
	}
	return b
}

// Note is a footnote; cells point to it by Mark.
type Note struct {
	Mark int
	Text string
}

// Listing is text whose lines stay as they are.
type Listing struct{ Text string }

// Table has typed columns. Rows find their cells by the key of a column, never by its place.
type Table struct {
	Title   string
	Columns []Column
	Rows    []Row
}

// Row holds cells by the keys of their columns. A column without a cell is blank in this row.
type Row map[string]Cell

// AddRow adds a row with cells in the order of the columns, of which the last ones may have none.
func (t *Table) AddRow(cells ...Cell) {
	row := Row{}
	for i, c := range cells {
		row[t.Columns[i].Key] = c
	}
	t.Rows = append(t.Rows, row)
}

// AddWords adds a row of words, likewise.
func (t *Table) AddWords(words ...string) {
	t.AddRow(lists.Map(words, Text)...)
}

// check panics if two columns have one key, or if a cell's key names no column: a figure would stand twice, or be lost.
func (t Table) check() {
	known := make(map[string]bool, len(t.Columns))
	for _, c := range t.Columns {
		if known[c.Key] {
			panic(fmt.Sprintf("document: table %q has two columns %q", t.Title, c.Key))
		}
		known[c.Key] = true
	}
	for _, row := range t.Rows {
		for key := range row {
			if !known[key] {
				panic(fmt.Sprintf("document: table %q has no column %q", t.Title, key))
			}
		}
	}
}

// WithBounds returns t with Spread set for every column that has a bounded cell: formats that show an interval in columns of
// its own must show its ends there.
func (t Table) WithBounds() Table {
	t.Columns = slices.Clone(t.Columns)
	for i, c := range t.Columns {
		isBounded := func(row Row) bool { return row[c.Key].Bounded }
		t.Columns[i].Spread = c.Spread || slices.ContainsFunc(t.Rows, isBounded)
	}
	return t
}

// Charts lists the charts that columns name, each once.
func (t Table) Charts() []Chart {
	charts := lists.AddNew(nil, lists.Map(t.Columns, func(c Column) Chart { return c.Chart })...)
	return lists.Filter(charts, func(c Chart) bool { return c.Title != "" })
}

func (Heading) block()   {}
func (Paragraph) block() {}
func (Verdict) block()   {}
func (Warning) block()   {}
func (Note) block()      {}
func (Listing) block()   {}
func (Table) block()     {}

// Column describes the cells below it.
type Column struct {
	Key          string    // for programs: stable, lower case, ends with the unit where there is one
	Name         string    // for people; may hold a line break
	Unit         unit.Unit // of its numbers
	Identifies   bool      // its cells say which row it is; a table that has to be split repeats them in every part
	Label        bool      // its words choose the row's colour in charts; in a table without such a column, those that identify the row do
	Named        bool      // its cells mean nothing without the column's name, as the "5" below "linger.ms"
	Spread       bool      // shows the intervals of its cells
	Wide         bool      // holds sentences, which get longer lines than other words
	Spare        bool      // left out where a terminal is too narrow
	MachinesOnly bool      // for programs only: people read the same in a heading
	Attribute    bool      // its words become an attribute of the HTML row, for style sheets; charts show them in place of a missing bar
	Chart        Chart     // the chart that draws its cells, in formats that draw; columns with equal charts share one
}

// Chart describes a chart of columns. The zero Chart, which has no title, is no chart.
type Chart struct {
	Title  string
	Better Better
}

// Better says which figures of a chart are the better ones.
type Better int

// Directions.
const (
	MoreIsBetter Better = iota
	LessIsBetter
)

func (b Better) String() string {
	if b == LessIsBetter {
		return "less is better"
	}
	return "more is better"
}

// OneLine returns a column's name in one line, and joins a path that was broken after a dot.
func OneLine(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, ".\n", "."), "\n", " ")
}

// Kind is the kind of a cell's value.
type Kind int

// The kinds of cells.
const (
	Blank    Kind = iota // not measured or not known, which is never the same as 0
	Words                // text
	Figure               // one number
	Interval             // a number within Low..High; an infinite bound is unknown
)

// Cell is one value of a table. The zero Cell is blank.
type Cell struct {
	Kind      Kind
	Text      string    // of Words
	Number    float64   // of a Figure or an Interval
	Low, High float64   // of an Interval
	Unit      unit.Unit // of the numbers; None: that of the column
	Marks     []int     // of footnotes
	Bounded   bool      // Low..High is the error of measurement, which is shown wherever the number is
	AtLeast   bool      // the number is a lower bound
	Unused    bool      // no conclusion is drawn from it: it is shown in parentheses
	Tone      Tone
}

// Tone is how serious a cell is. Formats with colours show it; the words of the cell say it as well.
type Tone int

// Tones.
const (
	Plain   Tone = iota
	Caution      // void: no conclusion may be drawn
	Alarm        // failed or broken
)

// Text makes a cell of words; an empty text is a blank cell.
func Text(text string) Cell {
	if text == "" {
		return Cell{}
	}
	return Cell{Kind: Words, Text: text}
}

// Number makes a cell of one number; NaN is a blank cell.
func Number[T int | int64 | float64](v T) Cell {
	if math.IsNaN(float64(v)) {
		return Cell{}
	}
	return Cell{Kind: Figure, Number: float64(v)}
}

// AtLeast makes a cell of a number that is a lower bound.
func AtLeast(v float64) Cell {
	return Cell{Kind: Interval, Number: v, Low: v, High: math.Inf(1), Bounded: true, AtLeast: true}
}

// IsNumber reports whether the cell holds a number.
func (c Cell) IsNumber() bool { return c.Kind == Figure || c.Kind == Interval }

// In returns the cell with its own unit, for tables whose rows differ in it.
func (c Cell) In(u unit.Unit) Cell {
	c.Unit = u
	return c
}

// Toned returns the cell with a tone.
func (c Cell) Toned(t Tone) Cell {
	c.Tone = t
	return c
}

// Excluded returns the cell with Unused set: whether it is excluded from conclusions.
func (c Cell) Excluded(unused bool) Cell {
	c.Unused = unused
	return c
}

// Marked returns the cell with footnotes added.
func (c Cell) Marked(marks ...int) Cell {
	c.Marks = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Marks, marks))))
	return c
}

// Add appends blocks. It panics on a table with two columns of one key, or with cells that no column shows.
func (d *Document) Add(blocks ...Block) {
	for _, b := range blocks {
		if t, ok := b.(Table); ok {
			t.check()
		}
	}
	d.Blocks = append(d.Blocks, blocks...)
}

// Say appends a paragraph unless text is empty.
func (d *Document) Say(text string) {
	if text != "" {
		d.Add(Paragraph{Text: text})
	}
}

// Warn appends a warning unless nothing differs.
func (d *Document) Warn(about string, differ []string) {
	if len(differ) > 0 {
		d.Add(Warning{About: about, Differ: differ})
	}
}

// Tables lists the document's tables.
func (d Document) Tables() []Table {
	var tables []Table
	for _, b := range d.Blocks {
		if t, ok := b.(Table); ok {
			tables = append(tables, t)
		}
	}
	return tables
}

// Notes returns the text of every footnote by its mark.
func (d Document) Notes() map[int]string {
	notes := map[int]string{}
	for _, b := range d.Blocks {
		if n, ok := b.(Note); ok {
			notes[n.Mark] = n.Text
		}
	}
	return notes
}
