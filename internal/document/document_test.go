package document

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/unit"
)

func TestAWarningQuotesSixDifferences(t *testing.T) {
	var residue []string
	for i := range 8 {
		residue = append(residue, fmt.Sprint("d", i))
		want := strings.Join(residue[:min(6, len(residue))], "; ")
		if more := len(residue) - 6; more > 0 {
			want += fmt.Sprintf("; and %d more", more)
		}
		if got := (Warning{"these", residue}).Text(); got != "Warning: these differ in what was not named as the difference: "+want+"." {
			t.Errorf("of %d: %q", len(residue), got)
		}
	}
}

func TestNotesOfARowComeOnceAndInOrder(t *testing.T) {
	table := Table{Columns: []Column{{Key: "first"}, {Key: "second"}, {Key: "third"}}}
	row := Row{"third": Text("c").Marked(1, 2), "second": Text("b"), "first": Text("a").Marked(2)}
	if got := table.RowNotes(row, map[int]string{1: "one", 2: "two"}); !slices.Equal(got, []string{"two", "one"}) {
		t.Errorf("%q", got)
	}
	marked := Text("a").Marked(1)
	one, two := marked.Marked(2), marked.Marked(3)
	if !slices.Equal(one.Marks, []int{1, 2}) || !slices.Equal(two.Marks, []int{1, 3}) || !slices.Equal(marked.Marks, []int{1}) {
		t.Errorf("cells share their marks: %v %v %v", marked.Marks, one.Marks, two.Marks)
	}
	d := Document{Blocks: []Block{Note{1, "one"}, Paragraph{"p"}, Note{2, "two"}, Table{Title: "t"}}}
	if notes := d.Notes(); !maps.Equal(notes, map[int]string{1: "one", 2: "two"}) || len(d.Tables()) != 1 {
		t.Errorf("notes %v", notes)
	}
}

func TestACellWithoutItsColumnIsRefused(t *testing.T) {
	columns := []Column{{Key: "broker"}, {Key: "lost"}}
	for name, c := range map[string]struct {
		table Table
		want  any
	}{
		"a key that no column has": {Table{Title: "t", Columns: columns, Rows: []Row{{"broker": Text("x")}, {"losts": Number(1)}}}, `document: table "t" has no column "losts"`},
		"two columns of one key":   {Table{Title: "t", Columns: append(columns, Column{Key: "lost"})}, `document: table "t" has two columns "lost"`},
		"blank cells":              {Table{Columns: columns, Rows: []Row{{}, {"lost": Number(0)}, nil}}, nil},
	} {
		got := func() (said any) {
			defer func() { said = recover() }()
			var d Document
			d.Add(Paragraph{"p"}, c.table)
			return nil
		}()
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestANoteHasTheSpanOfFiguresOfItsSentences(t *testing.T) {
	var f Footnotes
	for i := range 5 {
		f.Mark("x", remark.Of("%d of %d late", i, 9))
		want := []string{"0 of 9 late", "0–1 of 9 late (2 alike)", "0–2 of 9 late (3 alike)", "0–3 of 9 late (4 alike)", "0–4 of 9 late (5 alike)"}[i]
		if blocks := f.Blocks(); len(blocks) != 1 || blocks[0] != (Note{1, want}) {
			t.Errorf("after %d: %v, want %q", i+1, blocks, want)
		}
	}
}

func TestFootnotesThatDifferInFiguresAreOne(t *testing.T) {
	var f Footnotes
	late := func(ms float64) remark.Remark { return remark.Of("%g ms late", ms) }
	for i, r := range []remark.Remark{late(3), late(4), late(3), remark.Of("other"), late(5.5), late(6), late(7)} {
		if want := map[bool]int{true: 2, false: 1}[r.Text == "other"]; f.Mark("kafka", r) != want {
			t.Errorf("remark %d (%s) isn't note %d", i, r.Text, want)
		}
	}
	if f.Mark("nats", late(3)) != 3 {
		t.Error("another broker's note was shared")
	}
	note := f.Blocks()[0].(Note)
	if want := "3–7 ms late (5 alike)"; note.Text != want {
		t.Errorf("got %q, want %q", note.Text, want)
	}
}

func TestAVerdictSaysWhatItIsAboutUnlessTheHeadingDoes(t *testing.T) {
	for want, v := range map[string]Verdict{
		"100 B. kafka is faster. By far.": {About: "100 B", Finding: "kafka is faster.", Detail: "By far."},
		"kafka is faster. By far.":        {About: "100 B", Finding: "kafka is faster.", Detail: "By far.", Headed: true},
		"kafka is faster.":                {Finding: "kafka is faster."},
	} {
		if got := v.Text(); got != want {
			t.Errorf("%+v reads %q, want %q", v, got, want)
		}
		if got := Worded(v); got != (Paragraph{want}) {
			t.Errorf("%+v is worded %v", v, got)
		}
	}
	w := Warning{"these", []string{"a"}}
	if got := Worded(w); got != (Paragraph{w.Text()}) {
		t.Errorf("a warning is worded %v", got)
	}
	if got := Worded(Heading{1, "h"}); got != (Heading{1, "h"}) {
		t.Errorf("a heading is worded %v", got)
	}
}

func TestACellHoldsWhatIsKnownAndIsBlankOtherwise(t *testing.T) {
	for name, c := range map[string]struct{ got, want Cell }{
		"words":           {Text("x"), Cell{Kind: Words, Text: "x"}},
		"no words":        {Text(""), Cell{}},
		"a figure":        {Number(2.5), Cell{Kind: Figure, Number: 2.5}},
		"zero":            {Number(0), Cell{Kind: Figure}},
		"a whole number":  {Number(int64(7)), Cell{Kind: Figure, Number: 7}},
		"what is unknown": {Number(math.NaN()), Cell{}},
		"its unit":        {Number(1).In(unit.Bytes), Cell{Kind: Figure, Number: 1, Unit: unit.Bytes}},
		"a tone":          {Number(1).Toned(Alarm), Cell{Kind: Figure, Number: 1, Tone: Alarm}},
		"left out":        {Number(1).Excluded(true), Cell{Kind: Figure, Number: 1, Unused: true}},
		"taken in":        {Number(1).Excluded(true).Excluded(false), Cell{Kind: Figure, Number: 1}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

func TestADocumentHoldsWhatWasSaidInItsOrder(t *testing.T) {
	var d Document
	table := Table{Title: "t", Columns: []Column{{Key: "a"}}, Rows: []Row{{"a": Number(1)}}}
	d.Say("first")
	d.Say("")
	d.Warn("these", nil)
	d.Warn("these", []string{"x"})
	d.Add(table, Heading{2, "h"})
	want := []Block{Paragraph{"first"}, Warning{"these", []string{"x"}}, table, Heading{2, "h"}}
	if !reflect.DeepEqual(d.Blocks, want) {
		t.Errorf("%+v, want %+v", d.Blocks, want)
	}
	if tables := d.Tables(); len(tables) != 1 || tables[0].Title != "t" {
		t.Errorf("tables %+v", tables)
	}
}
