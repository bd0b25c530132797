package sheet

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

func TestADocumentIsASheetWithRealNumbers(t *testing.T) {
	d := document.Document{Title: "Kafka: [a/b]?", Blocks: []document.Block{
		document.Paragraph{Text: "=cmd|'/c calc'!A1"},
		document.Heading{Level: 1, Text: "100 B"},
		document.Table{Title: "Latency", Columns: []document.Column{
			{Key: "broker", Name: "broker", Identifies: true},
			{Key: "p99", Name: "e2e\np99", Unit: unit.Nanoseconds, Spread: true},
			{Key: "any", Name: "any"},
		}, Rows: []document.Row{
			{
				"broker": document.Text("=1+1"), "any": document.Number(0.25).In(unit.Share),
				"p99": {Kind: document.Interval, Number: 1.5e6, Low: 1e6, High: math.Inf(1), Marks: []int{1}},
			},
			{"broker": document.Text("nats"), "p99": document.Number(2e6)},
			{"broker": document.Text("redis"), "p99": document.Text("refused"), "any": document.Number(0.5).In(unit.Share)},
		}},
		document.Listing{Text: "a: 1\nb: 2\n"},
		document.Warning{About: "these records", Differ: []string{"cores"}},
		document.Note{Mark: 1, Text: "few-samples: three"},
	}}
	f := opened(t, written(t, nil, d))
	sheet := f.GetSheetName(0)
	raw, err := f.GetRows(sheet, excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, row := range raw {
		lines = append(lines, strings.Join(row, ";"))
	}
	for _, want := range []string{
		"=cmd|'/c calc'!A1", "100 B", "broker;e2e p99 (ms);e2e p99, low (ms);e2e p99, high (ms);unit;any;notes",
		"=1+1;1.5;1;;%;25;few-samples: three", "nats;2", "redis;refused;;;%;50", "Warning: these records differ", "a: 1", "b: 2",
	} {
		found := false
		for _, line := range lines {
			found = found || strings.HasPrefix(line, want)
		}
		if !found {
			t.Errorf("no row %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	for i, row := range raw {
		for j, text := range row {
			if formula, _ := f.GetCellFormula(sheet, cell(j+1, i+1)); formula != "" {
				t.Errorf("%q is the formula %q", text, formula)
			}
			kind, _ := f.GetCellType(sheet, cell(j+1, i+1))
			if _, err := strconv.ParseFloat(text, 64); err == nil && kind != excelize.CellTypeUnset && kind != excelize.CellTypeNumber {
				t.Errorf("%q is a text", text)
			}
		}
	}
}

func TestEachFigureHasItsUnitBesideIt(t *testing.T) {
	columns := []document.Column{{Key: "a", Name: "a"}, {Key: "b", Name: "b"}, {Key: "c", Name: "c", Unit: unit.Nanoseconds}}
	ms, share := document.Number(2e6).In(unit.Nanoseconds), document.Number(0.5).In(unit.Share)
	for want, rows := range map[string][]document.Row{
		"unit;a;b;c (ms)":      {{"a": ms, "b": ms, "c": document.Number(1e6)}, {"a": share, "b": document.Text("refused")}},
		"unit;a;unit;b;c (ms)": {{"a": ms, "b": share, "c": document.Number(1e6)}},
		"a;unit;b;c (ms)":      {{"b": share, "c": document.Number(1e6)}},
		"a;b;unit;c":           {{"c": share}},
		"unit;a;b;unit;c":      {{"a": ms, "b": ms, "c": ms}, {"a": document.Number(1), "c": document.Number(1e6)}}, // 1 and 1 ms
	} {
		d := document.Document{Title: "d", Blocks: []document.Block{document.Table{Columns: columns, Rows: rows}}}
		f := opened(t, written(t, nil, d))
		lines, err := f.GetRows(f.GetSheetName(0))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(lines, func(line []string) bool { return strings.Join(line, ";") == want }) {
			t.Errorf("no header %q in %q", want, lines)
		}
	}
}

// The error of two clocks is part of a latency, in a column without intervals as well.
func TestADocumentsSheetHoldsTheErrorOfMeasurement(t *testing.T) {
	bounded := document.Cell{Kind: document.Interval, Number: 5e6, Low: 2e6, High: 8e6, Bounded: true}
	d := document.Document{Title: "t", Blocks: []document.Block{document.Table{
		Columns: []document.Column{{Key: "p99", Name: "p99", Unit: unit.Nanoseconds}},
		Rows:    []document.Row{{"p99": bounded}, {"p99": document.Number(1e6)}},
	}}}
	f := opened(t, written(t, nil, d))
	rows, err := f.GetRows(f.GetSheetName(0), excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[3]; !slices.Equal(got, []string{"5", "2", "8"}) {
		t.Errorf("the row is %q, want 5 ms with its bounds 2 and 8; all rows %q", got, rows)
	}
}

// Numbers of void points must get into no sum, no average and no chart.
func TestAnUnusedFigureIsWordsInParentheses(t *testing.T) {
	d := document.Document{Title: "t", Blocks: []document.Block{document.Table{
		Columns: []document.Column{{Key: "p99", Name: "p99", Unit: unit.Nanoseconds, Spread: true}},
		Rows:    []document.Row{{"p99": {Kind: document.Interval, Number: 5e6, Low: 2e6, High: 8e6, Unused: true}}, {"p99": document.Number(1e6)}},
	}}}
	f := opened(t, written(t, nil, d))
	rows, err := f.GetRows(f.GetSheetName(0))
	if err != nil || !slices.Equal(rows[3], []string{"(5.00 ms)"}) || !slices.Equal(rows[4], []string{"1.000"}) {
		t.Errorf("%q, %v", rows, err)
	}
	if kind, err := f.GetCellType(f.GetSheetName(0), "A4"); kind != excelize.CellTypeInlineString && kind != excelize.CellTypeSharedString {
		t.Errorf("the unused figure is of type %v, %v", kind, err)
	}
}
