package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/unit"
)

func charted(rows ...document.Row) document.Table {
	return document.Table{Columns: []document.Column{
		{Key: "who", Name: "who", Identifies: true},
		{Key: "status", Name: "status", Attribute: true},
		{Key: "rate", Name: "rate", Unit: unit.PerSecond, Spread: true, Chart: document.Chart{Title: "Rate", Better: document.MoreIsBetter}},
		{Key: "low", Name: "p99 at\n1k/s", Unit: unit.Nanoseconds, Chart: document.Chart{Title: "p99", Better: document.LessIsBetter}},
		{Key: "other", Name: "never drawn"},
		{Key: "high", Name: "p99 at\n2k/s", Unit: unit.Nanoseconds, Chart: document.Chart{Title: "p99", Better: document.LessIsBetter}},
	}, Rows: rows}
}

func interval(v, low, high float64) document.Cell {
	return document.Cell{Kind: document.Interval, Number: v, Low: low, High: high}
}

func one(string) int { return 1 }

func TestAChartHasABarForEveryKnownFigureAndSaysWhatIsUnknown(t *testing.T) {
	void := document.Number(500.0).Excluded(true)
	got := Charts(charted(
		document.Row{"who": document.Text("<a>"), "rate": interval(1000, 500, math.Inf(1)).Marked(3), "low": document.Number(1e6), "high": document.Number(4e6), "status": document.Text("ok")},
		document.Row{"who": document.Text("b"), "rate": interval(250, 250, 250), "low": void, "other": document.Number(1e12), "status": document.Text("void")},
		document.Row{"who": document.Text("c"), "status": document.Text("refused")},
		document.Row{"who": document.Text("d"), "status": document.Text("ok")},
		document.Row{"who": document.Text("at least"), "rate": document.AtLeast(700)},
	), func(name string) int { return len(name) })
	for _, want := range []string{
		`<caption>Rate <small>more is better</small></caption>`,
		`<th scope="row">&lt;a&gt;</th><td><span class="bar-line"><span class="bar-track"><span class="bar c3" style="width:100.00%"></span><span class="bounds" style="left:50.00%;width:50.00%"></span></span><span class="bar-value">1k/s</span></span></td>`,
		`<th scope="row">b</th><td><span class="bar-line"><span class="bar-track"><span class="bar c1" style="width:25.00%"></span></span><span class="bar-value">250/s</span></span></td>`,
		`<span class="bar-value">≥ 700/s</span>`, // the bar alone would be a figure
		`<span class="bar-name">1k/s</span><span class="bar-track"><span class="bar c3" style="width:25.00%"></span></span><span class="bar-value">1.00 ms</span>`,
		`<span class="bar-name">2k/s</span><span class="bar-track"><span class="bar c3" style="width:100.00%"></span></span><span class="bar-value">4.00 ms</span>`,
		`<span class="bar-line unused"><span class="bar-name">1k/s</span><span class="bar-track"><span class="bar c1" style="width:0.01%"></span></span><span class="bar-value">(500 ns)</span>`,
		`<span class="bar-name">2k/s</span><span class="bar-track"></span><span class="bar-value">–</span>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Count(got, `<th scope="row">c</th><td class="none">refused</td>`) != 2 || strings.Count(got, `<th scope="row">d</th><td class="none">–</td>`) != 2 || strings.Contains(got, "never drawn") {
		t.Errorf("what is unknown:\n%s", got)
	}
}

// Settings are named beside their values, columns for machines aren't shown, and colours go by the whole name.
func TestAChartNamesTheSettingsOfItsRows(t *testing.T) {
	table := charted()
	table.Columns[0].MachinesOnly = true // one broker
	table.Columns = append(table.Columns, document.Column{Key: "name", MachinesOnly: true, Label: true}, document.Column{Key: "axis", Name: "inFlight.\nmessages", Identifies: true, Named: true})
	for i := range 2 {
		table.Rows = append(table.Rows, document.Row{"who": document.Text("kafka"), "name": document.Text(strings.Repeat("n", i+3)), "axis": document.Text(fmt.Sprint(10 * i)), "rate": document.Number(5)})
	}
	table.Columns = append(table.Columns, document.Column{Key: "broker", Identifies: true})
	table.Rows = append(table.Rows, document.Row{"broker": document.Text("nats"), "rate": document.Number(5)}) // which has no such setting
	for i := range 2 {
		table.Rows[i]["broker"] = document.Text("kafka")
	}
	got := Charts(table, func(name string) int { return len(name) })
	for _, want := range []string{`<th scope="row">inFlight.<wbr>messages=<wbr>0 kafka</th><td><span class="bar-line"><span class="bar-track"><span class="bar c3"`, `<th scope="row">inFlight.<wbr>messages=<wbr>10 kafka</th>`, `"bar c4"`, `<th scope="row">nats</th>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestAChartOfManyRowsShowsTheBestOfThem(t *testing.T) {
	var rows []document.Row
	for i := range 40 {
		cell := document.Number(100 + i)
		rows = append(rows, document.Row{"who": document.Text(fmt.Sprintf("r%02d", i)), "rate": cell.Excluded(i == 39), "low": cell})
	}
	charts := strings.Split(Charts(charted(rows...), one), "<caption>")
	for i, c := range []struct{ chart, first, last, says string }{
		{"rate", "r23", "r38", "more is better; the best 16 of 40"},
		{"p99", "r00", "r15", "less is better; the best 16 of 40"},
	} {
		chart := charts[i+1]
		names := strings.Split(chart, `<th scope="row">`)[1:]
		if len(names) != 16 || !strings.HasPrefix(names[0], c.first) || !strings.HasPrefix(names[15], c.last) || !strings.Contains(chart, c.says) {
			t.Errorf("%s: %d rows:\n%s", c.chart, len(names), chart)
		}
	}
}

// No row has the first of the two bars of the second chart.
func TestAChartOfManyRowsShowsThoseWithoutAFirstBar(t *testing.T) {
	var rows []document.Row
	for i := range 20 {
		rows = append(rows, document.Row{"who": document.Text(fmt.Sprintf("r%02d", i)), "high": document.Number(100 + i)})
	}
	got := Charts(charted(rows...), one)
	if names := strings.Count(got, `<th scope="row">`); names != 16 || !strings.Contains(got, "the best 16 of 20") {
		t.Errorf("%d rows:\n%s", names, got)
	}
}

func TestNothingToCompareHasNoChart(t *testing.T) {
	known := document.Row{"who": document.Text("a"), "rate": document.Number(1)}
	bare := charted(known, known)
	for i := range bare.Columns {
		bare.Columns[i].Chart = document.Chart{}
	}
	for name, table := range map[string]document.Table{
		"no row": charted(), "one row": charted(known), "no figure": charted(document.Row{"rate": document.Text("words")}, document.Row{}), "no column that is drawn": bare,
	} {
		if got := Charts(table, one); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := Charts(charted(known, document.Row{}), one); strings.Count(got, "<table") != 1 {
		t.Errorf("a chart without a figure:\n%s", got)
	}
}

// Three brokers at some milliseconds beside one at seconds would be three bars of no length.
func TestFiguresFarApartAreDotsOnALogarithmicScale(t *testing.T) {
	rows := func(values ...float64) []document.Row {
		var rows []document.Row
		for i, v := range values {
			rows = append(rows, document.Row{"who": document.Text(fmt.Sprint(i)), "low": document.Number(v)})
		}
		return rows
	}
	got := Charts(charted(rows(1e6, 5e6, 10e6, 2.5e9)...), one)
	for _, want := range []string{
		"less is better; logarithmic, 1.00 ms to 10.0 s", `decades" style="background-size:25.00%"`,
		`"dot c1" style="left:0.00%"`, `"dot c1" style="left:17.47%"`, `"dot c1" style="left:25.00%"`, `"dot c1" style="left:84.95%"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if got := newScale([]float64{1000, 2000, 3000, 1e6}, nil); got != (scale{logarithmic: true, from: 1000, to: 1e6}) {
		t.Errorf("powers of ten are the ends of their own scale, not %v", got)
	}
	for name, figures := range map[string][]float64{"alike": {1e6, 5e6, 10e6, 20e6}, "with a zero": {0, 1e6, 1e6, 2.5e9}} {
		if got := Charts(charted(rows(figures...)...), one); strings.Contains(got, "dot") || !strings.Contains(got, `class="bar c1"`) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// On a linear scale the longest bar fills its track, and all others are to it as their figures are. On a logarithmic one a larger figure
// is further right, within the track.
func TestBarsAndDotsStandWhereTheirFiguresAre(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 2, 9).Draw(t, "values")
		var rows []document.Row
		most := 0.0
		for i, v := range values {
			rows = append(rows, document.Row{"who": document.Text(fmt.Sprint(i)), "rate": document.Number(v)})
			most = max(most, v)
		}
		charts, linear := Charts(charted(rows...), one), `class="bar c1" style="width:`
		logarithmic := strings.Contains(charts, "logarithmic")
		mark := linear
		if logarithmic {
			mark = `class="dot c1" style="left:`
		}
		parts := strings.Split(charts, mark)[1:]
		if most == 0 {
			if len(parts) != 0 {
				t.Fatalf("%d bars of nothing", len(parts))
			}
			return
		}
		if len(parts) != len(values) || logarithmic && strings.Contains(charts, linear) {
			t.Fatalf("%d marks of %d figures:\n%s", len(parts), len(values), charts)
		}
		at := make([]float64, len(parts))
		for i, part := range parts {
			text, _, _ := strings.Cut(part, "%")
			var err error
			if at[i], err = strconv.ParseFloat(text, 64); err != nil || at[i] < 0 || at[i] > 100 {
				t.Fatalf("%v of %v is at %s %%", values[i], most, text)
			}
			if !logarithmic && math.Abs(at[i]-100*values[i]/most) > 0.0051 {
				t.Fatalf("%v of %v is %s %% wide", values[i], most, text)
			}
			for j := range i {
				if logarithmic && (values[i]-values[j])*(at[i]-at[j]) < 0 {
					t.Fatalf("%v is at %v %%, %v at %v %%", values[i], at[i], values[j], at[j])
				}
			}
		}
	})
}

// The ratio of the ends of a scale may be too large for a float64.
func TestAScaleHoldsFiguresOfAnySize(t *testing.T) {
	for _, figures := range [][]float64{{1e-140, 1e-139, 1e200}, {5e-324, 5e-324, 1}, {1, 1, 1.5e308}} {
		s := newScale(figures, nil)
		if first, last := s.percent(figures[0]), s.percent(figures[2]); !(first >= 0 && first < 50 && last > 50 && last <= 100) {
			t.Errorf("%v: %v and %v %% on %+v", figures, first, last, s)
		}
	}
}
