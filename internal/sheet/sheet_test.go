package sheet

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/unit"
)

func written(t *testing.T, records []store.Record, documents ...document.Document) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, documents, records); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(t *testing.T, data []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// columnOf finds a column by its name in the first row, from 1.
func columnOf(t *testing.T, f *excelize.File, sheet, name string) int {
	t.Helper()
	rows, err := f.Rows(sheet)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var header []string
	if rows.Next() {
		header, err = rows.Columns()
	}
	if i := slices.Index(header, name); i >= 0 {
		return i + 1
	}
	t.Fatalf("sheet %s has no column %q: %q, %v", sheet, name, header, err)
	return 0
}

func TestNoRecordsMakeASheetOfTheHeaderAlone(t *testing.T) {
	f := opened(t, written(t, nil))
	if rows, err := f.GetRows("Repetitions"); err != nil || len(rows) != 1 || rows[0][0] != "study" {
		t.Errorf("%q, %v", rows, err)
	}
	f = opened(t, written(t, nil, document.Document{Title: "Summary"}))
	if sheets := f.GetSheetList(); !slices.Equal(sheets, []string{"Summary"}) {
		t.Errorf("a document without records has the sheets %q", sheets)
	}
}

// charts reads the XML of every chart of a workbook, by its file.
func charts(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range z.File {
		if !strings.HasPrefix(file.Name, "xl/charts/chart") {
			continue
		}
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		xml, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		found[strings.TrimPrefix(file.Name, "xl/charts/")] = html.UnescapeString(string(xml))
	}
	return found
}

func TestATableHasTheChartsThatItsColumnsName(t *testing.T) {
	rate := document.Chart{Title: "Rate", Better: document.MoreIsBetter}
	p99 := document.Chart{Title: "p99", Better: document.LessIsBetter}
	table := document.Table{Columns: []document.Column{
		{Key: "status", Name: "status"},
		{Key: "broker", Name: "broker", Identifies: true},
		{Key: "rate", Name: "rate", Unit: unit.PerSecond, Spread: true, Chart: rate},
		{Key: "low", Name: "p99 at\n1k/s", Unit: unit.Nanoseconds, Chart: p99},
		{Key: "high", Name: "p99 at\n2k/s", Unit: unit.Nanoseconds, Chart: p99},
		{Key: "void", Name: "p99 at\n3k/s", Unit: unit.Nanoseconds, Chart: p99},
	}}
	for _, name := range []string{"kafka", "nats"} {
		table.Rows = append(table.Rows, document.Row{
			"broker": document.Text(name), "rate": document.Number(1000), "low": document.Number(1e6), "high": document.Number(2e6),
			"void": document.Number(9e6).Excluded(true),
		})
	}
	alone := table
	alone.Rows = table.Rows[:1]
	d := document.Document{Title: "It's", Blocks: []document.Block{table, document.Paragraph{Text: "below"}, alone}}
	got := charts(t, written(t, nil, d))
	if len(got) != 2 {
		t.Fatalf("%d charts, want one of rates and one of latencies: a table of one row compares nothing", len(got))
	}
	// The title is in row 1, the header in row 3. The rate has columns C to E.
	for file, want := range map[string][]string{
		"chart1.xml": {"Rate (more is better)", ">per second<", ">'It''s'!$C$3<", ">'It''s'!$B$4:$B$5<", ">'It''s'!$C$4:$C$5<"},
		"chart2.xml": {"p99 (less is better)", ">ms<", ">'It''s'!$F$4:$F$5<", ">'It''s'!$G$4:$G$5<"},
	} {
		for _, part := range want {
			if !strings.Contains(got[file], part) {
				t.Errorf("%s lacks %q", file, part)
			}
		}
	}
	if strings.Contains(got["chart2.xml"], "$H$") {
		t.Error("a chart draws a column without a figure that can be used")
	}
	f := opened(t, written(t, nil, d))
	rows, err := f.GetRows("It's")
	if err != nil {
		t.Fatal(err)
	}
	const heights = 2 * minChartHeight / rowHeight
	if below := slices.IndexFunc(rows, func(row []string) bool { return len(row) > 0 && row[0] == "below" }); below < 5+heights {
		t.Errorf("the text below the charts is in row %d, behind them", below+1)
	}
}

func TestTheFlatSheetHasAFrozenHeaderAndAFilter(t *testing.T) {
	f := opened(t, written(t, storetest.Demo()))
	panes, err := f.GetPanes("Repetitions")
	if err != nil || !panes.Freeze || panes.YSplit != 1 || panes.XSplit != 2 {
		t.Errorf("%+v, %v", panes, err)
	}
	rows, err := f.GetRows("Repetitions")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("!$A$1:$%s$%d", letterOf(len(rows[0])), len(rows))
	isFilter := func(n excelize.DefinedName) bool {
		return n.Name == "_xlnm._FilterDatabase" && strings.HasSuffix(n.RefersTo, want)
	}
	if !slices.ContainsFunc(f.GetDefinedName(), isFilter) {
		t.Errorf("%+v, want a filter of %s", f.GetDefinedName(), want)
	}
}

func TestEveryRepetitionIsThereWithItsFlatColumns(t *testing.T) {
	records := storetest.Demo()
	f := opened(t, written(t, records))
	rows, err := f.GetRows("Repetitions", excelize.Options{RawCellValue: true})
	var loads []results.FlatRecord
	for _, r := range records {
		loads = append(loads, results.Flat(r)...)
	}
	if err != nil || len(rows) != len(loads)+1 || len(loads) <= len(records) {
		t.Fatalf("%d rows of %d loads of %d records, %v", len(rows), len(loads), len(records), err)
	}
	column := columnOf(t, f, "Repetitions", "publish_rate")
	compared := 0
	for i, flat := range loads {
		want, isKnown := flat.Value("publish_rate").(float64)
		if !isKnown {
			continue
		}
		compared++
		if got, err := strconv.ParseFloat(rows[i+1][column-1], 64); err != nil || got != want {
			t.Errorf("row %d: %v, want %v; %v", i+2, got, want, err)
		}
		// Unset is how the format marks numbers; a text that looks like one has another type.
		if kind, err := f.GetCellType("Repetitions", cell(column, i+2)); kind != excelize.CellTypeUnset && kind != excelize.CellTypeNumber {
			t.Errorf("row %d is of type %v, not a number; %v", i+2, kind, err)
		}
	}
	if compared == 0 {
		t.Error("no record has a publish rate")
	}
}

func TestTheAnswersToAllGoalsOfASearchStandInOneCell(t *testing.T) {
	r := storetest.Demo()[0]
	r.Result.Sustainable.Goals = []store.GoalResult{{Low: 500, High: 520, HeldNs: 20e9, Conditional: 499}, {LatencyNs: 2e6, Quantile: 0.9, Undecided: "no rate passed"}}
	f := opened(t, written(t, []store.Record{r}))
	at, err := excelize.CoordinatesToCellName(columnOf(t, f, "Repetitions", "goals"), 2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.GetCellValue("Repetitions", at)
	const want = "no latency bound: 500–520/s, held 20s, conditional throughput 499/s | p90 ≤ 2ms: no rate was found; undecided: no rate passed"
	if err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestHostileWordsAreTextAndNoFormula(t *testing.T) {
	title := "a[b]:c*d?e/f\\g'h " + strings.Repeat("long ", 10)
	f := opened(t, written(t, storetest.Demo(), document.Document{Title: title}, document.Document{Title: title + "x"}, document.Document{}))
	found := false
	for _, sheet := range f.GetSheetList() {
		if len([]rune(sheet)) > 31 || strings.ContainsAny(sheet, `[]:*?/\`) {
			t.Errorf("sheet name %q", sheet)
		}
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			for j, text := range row {
				found = found || text == storetest.Hostile
				if formula, _ := f.GetCellFormula(sheet, cell(j+1, i+1)); formula != "" {
					t.Errorf("%s holds the formula %q", sheet, formula)
				}
			}
		}
	}
	if !found {
		t.Error("the hostile label got lost")
	}
}

func TestASheetThatIsFullIsAnError(t *testing.T) {
	b := newBook("t")
	p := b.newSheetWriter(b.addSheet("s"), []float64{10})
	if p.row = maxRows; b.err != nil {
		t.Fatal(b.err)
	}
	p.addRow([]any{1})
	if b.err != nil {
		t.Errorf("the last row: %v", b.err)
	}
	if p.addRow([]any{2}); b.err == nil || !strings.Contains(b.err.Error(), `"s" has more than 1000000 rows`) {
		t.Errorf("one more: %v", b.err)
	}
}

// A bundle of the same records is the same file, and so is a workbook with charts.
func TestEqualReportsMakeEqualWorkbooks(t *testing.T) {
	c := document.Chart{Title: "Rate"}
	table := document.Table{Columns: []document.Column{{Key: "broker", Name: "broker", Identifies: true}, {Key: "rate", Name: "rate", Chart: c}}}
	for i, name := range []string{"kafka", "nats"} {
		table.AddRow(document.Text(name), document.Number(i+1))
	}
	d := document.Document{Title: "t"}
	d.Add(table)
	var first []byte
	for range 20 {
		var out bytes.Buffer
		if err := Write(&out, []document.Document{d, {Title: "u"}, {Title: "v"}, {Title: "w"}}, nil); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), first) {
			t.Fatal("the workbooks differ")
		}
	}
}
