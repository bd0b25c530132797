package sheet

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

func written(t *testing.T, records []store.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, results.Of(records), nil); err != nil {
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

// column finds a column by its name in the first row.
func columnOf(t *testing.T, f *excelize.File, sheet, name string) int {
	t.Helper()
	rows, err := f.Rows(sheet) // all of them, for every cell that is looked up, would take half a minute
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var header []string
	if rows.Next() {
		header, err = rows.Columns()
	}
	if i := slices.IndexFunc(header, func(h string) bool { return h == name || strings.HasPrefix(h, name+" (") }); i >= 0 {
		return i + 1
	}
	t.Fatalf("sheet %s has no column %q: %q, %v", sheet, name, header, err)
	return 0
}

// figure is a cell that must hold a number and not a text that looks like one.
func figure(t *testing.T, f *excelize.File, sheet, name string, row int) (value float64, shown string) {
	t.Helper()
	at := cell(columnOf(t, f, sheet, name), row)
	kind, err := f.GetCellType(sheet, at)
	if err != nil {
		t.Fatal(err)
	}
	if kind != excelize.CellTypeUnset && kind != excelize.CellTypeNumber { // unset is how the format marks numbers
		t.Errorf("%s %s is of type %v, not a number", sheet, name, kind)
	}
	raw, err := f.GetCellValue(sheet, at, excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	if value, err = strconv.ParseFloat(raw, 64); err != nil {
		t.Errorf("%s %s holds %q", sheet, name, raw)
	}
	shown, err = f.GetCellValue(sheet, at)
	if err != nil {
		t.Fatal(err)
	}
	return value, shown
}

func TestRecordsWithNothingToShowMakeAWorkbookThatSaysSo(t *testing.T) {
	for what, records := range storetest.Empty() {
		f := opened(t, written(t, records))
		rows, err := f.GetRows("About")
		if err != nil || len(rows) < 5 {
			t.Fatalf("%s: %d rows, %v", what, len(rows), err)
		}
		if says := strings.Contains(rows[1][len(rows[1])-1], "nothing was measured"); says != (len(records) == 0) {
			t.Errorf("%s: %q", what, rows[1])
		}
	}
}

func TestAnExperimentHoldsTheFirstStudysColumnsAsNumbers(t *testing.T) {
	records := storetest.Demo()
	f := opened(t, written(t, records))
	const sheet = "head-to-head sustainable"
	points := results.Of(records).Points
	rows, err := f.GetRows(sheet)
	if err != nil {
		t.Fatal(err)
	}
	pointColumn := columnOf(t, f, sheet, "point")
	checked := 0
	for i := 2; i <= len(rows); i++ {
		id := rows[i-1][pointColumn-1]
		for _, p := range points {
			if p.ID != id || len(p.Ok()) == 0 {
				continue
			}
			checked++
			d := results.Distributions([]results.Point{p}, results.LatencyKinds[0])[0]
			cost := p.Ok()[1].Result.Cost // the median of three
			for name, want := range map[string]float64{
				"msg/s": results.Summarize(values(p, "publish_rate")).Median, "sustainable": results.Sustained(p.Ok()).Median,
				"min": float64(d.Latencies.Min()) / 1e6, "avg": d.Latencies.Mean() / 1e6, "95th": float64(d.Latencies.Quantile(0.95)) / 1e6, "99th": float64(d.Latencies.Quantile(0.99)) / 1e6,
				"lost": 0, "n": 3,
			} {
				if got, _ := figure(t, f, sheet, name, i); math.Abs(got-want) > 1e-9*math.Abs(want) {
					t.Errorf("%s, %s: %v, want %v", id, name, got, want)
				}
			}
			if disk, _ := figure(t, f, sheet, "disk MB", i); !(disk > 0) || cost.BrokerDiskWriteBytes <= 0 {
				t.Errorf("%s: %v MB", id, disk)
			}
			usr, shown := figure(t, f, sheet, "cpu %usr", i)
			sys, _ := figure(t, f, sheet, "cpu %sys", i)
			if !(usr > 2*sys) || !(sys > 0) || shown != fmt.Sprintf("%.1f", usr) {
				t.Errorf("%s: %v %% user (shown as %s), %v %% system", id, usr, shown, sys)
			}
		}
	}
	if checked != 7 {
		t.Errorf("checked %d rows, want all but the refused one", checked)
	}
	if last := rows[len(rows)-1]; last[columnOf(t, f, sheet, "status")-1] != "refused" {
		t.Errorf("the refused point isn't last: %q", last)
	}
}

func values(p results.Point, key string) []float64 {
	m, _ := results.MetricByKey(key)
	return m.Values(p.Ok())
}

func TestChartsAreDrawnFromUsableRowsOnly(t *testing.T) {
	data := written(t, storetest.Demo())
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	charts, drawings, text := 0, 0, ""
	for _, file := range z.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		xml, _ := io.ReadAll(r)
		_ = r.Close()
		switch {
		case strings.HasPrefix(file.Name, "xl/charts/chart"):
			charts++
			text += string(xml)
		case strings.HasPrefix(file.Name, "xl/worksheets/sheet") && strings.Contains(string(xml), "<drawing "):
			drawings++
		}
	}
	if charts != 6 || drawings != 3 { // throughput and latency of three experiments, each in its sheet
		t.Errorf("%d charts in the drawings of %d sheets", charts, drawings)
	}
	// Eight points were searched, one was refused: rows 2 to 8.
	if !strings.Contains(text, "$A$2:$A$8") || strings.Contains(text, "$A$2:$A$9<") {
		t.Error("the charts of the search aren't of its seven usable rows")
	}
}

func TestHeadersAreOneRowFrozenAndCanBeFiltered(t *testing.T) {
	f := opened(t, written(t, storetest.Demo()))
	filters := map[string]string{}
	for _, name := range f.GetDefinedName() {
		if name.Name == "_xlnm._FilterDatabase" {
			filters[name.Scope] = name.RefersTo
		}
	}
	for _, sheet := range f.GetSheetList() {
		if strings.HasSuffix(sheet, " charts") {
			continue
		}
		panes, err := f.GetPanes(sheet)
		if err != nil || !panes.Freeze || panes.YSplit != 1 || panes.XSplit < 1 {
			t.Errorf("%s: %+v, %v", sheet, panes, err)
		}
		rows, err := f.GetRows(sheet)
		if want := fmt.Sprintf("$%d", len(rows)); err != nil || !strings.Contains(filters[sheet], "!$A$1:$") || !strings.HasSuffix(filters[sheet], want) {
			t.Errorf("%s of %d rows is filtered in %q, %v", sheet, len(rows), filters[sheet], err)
		}
	}
	if unit := columnOf(t, f, "head-to-head sustainable", "99th (ms)"); unit == 0 {
		t.Error("no unit in the header")
	}
}

func TestGatesAndObjectivesStandInASheet(t *testing.T) {
	var out bytes.Buffer
	judged := []gate.Verdict{{Condition: "e2e_p99 > 1ms", Point: "kafka", Study: "s", Outcome: gate.Failed, Text: "2 ms"}}
	if err := Write(&out, results.Of(storetest.Demo()), judged); err != nil {
		t.Fatal(err)
	}
	rows, err := opened(t, out.Bytes()).GetRows("Gates")
	if err != nil || len(rows) != 2 || !slices.Equal(rows[1], []string{"kafka", "e2e_p99 > 1ms", "failed", "2 ms", "s"}) {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestEveryRepetitionIsThereWithItsFlatColumns(t *testing.T) {
	records := storetest.Demo()
	f := opened(t, written(t, records))
	rows, err := f.GetRows("Repetitions")
	var loads []results.FlatRecord
	for _, r := range records {
		loads = append(loads, results.Flat(r)...)
	}
	if err != nil || len(rows) != len(loads)+1 || len(loads) <= len(records) {
		t.Fatalf("%d rows of %d loads of %d records, %v", len(rows), len(loads), len(records), err)
	}
	compared := 0
	for i, flat := range loads {
		if flat.PublishRate == nil {
			continue
		}
		compared++
		if got, _ := figure(t, f, "Repetitions", "publish_rate", i+2); got != *flat.PublishRate {
			t.Errorf("row %d: %v, want %v", i+2, got, *flat.PublishRate)
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
	records := storetest.Demo()
	records[0].Study = "a[b]:c*d?e/f\\g'h " + strings.Repeat("long ", 10)
	records[1].Study = records[0].Study + "x"
	records[2].Study = ""
	f := opened(t, written(t, records))
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

func TestSettingsAreSplitIntoCommonOnesAndDifferences(t *testing.T) {
	f := opened(t, written(t, storetest.Demo()))
	common, err := f.GetRows("Settings")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, row := range common[1:] {
		if len(row) == 2 {
			seen[row[0]] = row[1]
		}
	}
	if seen["delivery"] != "at-least-once" || seen["host.cores"] != "2" || seen["broker"] != "" {
		t.Errorf("common settings: delivery %q, cores %q, broker %q", seen["delivery"], seen["host.cores"], seen["broker"])
	}
	columnOf(t, f, "Points", "broker")
	columnOf(t, f, "Points", "messageSize")
	doubts, err := f.GetRows("Doubts")
	if err != nil || !strings.Contains(fmt.Sprint(doubts), "two major versions behind") || !strings.Contains(fmt.Sprint(doubts), "core NATS keeps no copy") {
		t.Errorf("doubts: %v, %v", doubts, err)
	}
}

func TestADoubtCountsTheRepetitionsThatHaveIt(t *testing.T) {
	busy := store.Doubt{Code: "busy-machine", Text: "others used 1.3 cores"}
	twice, once := store.Record{Repetition: 1, Status: store.OK, Doubts: []store.Doubt{busy, busy}}, store.Record{Repetition: 2, Status: store.OK, Doubts: []store.Doubt{busy}}
	rows, err := opened(t, written(t, []store.Record{twice, once})).GetRows("Doubts")
	if err != nil || len(rows) != 2 || rows[1][1] != "machine" || rows[1][2] != "busy-machine" || rows[1][4] != "2" {
		t.Errorf("%q, %v", rows, err)
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
