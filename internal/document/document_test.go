package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
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

func TestNotesQuoteThreeSentencesOfAKind(t *testing.T) {
	var f Footnotes
	for i := range 5 {
		f.Mark("x", fmt.Sprintf("%d late", i))
		want := []string{"0 late", "0 late; 1 late", "0 late; 1 late; 2 late", "0 late; 1 late; 2 late; and 1 more like these", "0 late; 1 late; 2 late; and 2 more like these"}[i]
		if blocks := f.Blocks(); len(blocks) != 1 || blocks[0] != (Note{1, want}) {
			t.Errorf("after %d: %v, want %q", i+1, blocks, want)
		}
	}
}

func TestFootnotesThatDifferInFiguresAreOne(t *testing.T) {
	var f Footnotes
	for i, text := range []string{"3 ms late", "4 ms late", "3 ms late", "other", "5.5 ms late", "6 ms late", "7 ms late"} {
		if want := map[bool]int{true: 2, false: 1}[text == "other"]; f.Mark("kafka", text) != want {
			t.Errorf("text %d (%s) isn't note %d", i, text, want)
		}
	}
	if f.Mark("nats", "3 ms late") != 3 {
		t.Error("another broker's note was shared")
	}
	note := f.Blocks()[0].(Note)
	if want := "3 ms late; 4 ms late; 5.5 ms late; and 2 more like these"; note.Text != want {
		t.Errorf("got %q, want %q", note.Text, want)
	}
}
