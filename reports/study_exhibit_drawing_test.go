package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/figure"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Each figure that a paper prints, and that its table shows, is a mark, in the paper's unit, and so is what was measured.
func TestTheExhibitsOfAllPapersAreDrawn(t *testing.T) {
	marks := map[string]int{}
	for _, p := range papers(t) {
		measured := asMeasured(p.Figures, 2)
		for i := range measured {
			measured[i].Versions.Broker = "9.9"
			measured[i].Doubts = []store.Doubt{store.DoubtOf(doubt.GeneratorLag, "so")}
		}
		own := p.ownResults(results.Of(measured))
		for i, d := range p.Drawings(results.Of(measured)) {
			x := p.fillExhibit(p.Study.Exhibits[i], own)
			if want := fmt.Sprintf("%s/%d", p.Study.Name, i+1); d.Name != want {
				t.Errorf("%s is called %s", want, d.Name)
			}
			columns := x.columns
			if x.ofRates {
				columns = columns[1:]
			}
			for c, panel := range d.Panels {
				for _, r := range x.rows {
					for side, name := range x.sides {
						cell := columns[c].cell(r, name)
						if !cell.IsNumber() {
							continue
						}
						marks[name]++
						isIt := func(m document.DrawingMark) bool {
							return m.Side == side && m.Y.Number == cell.Number && !m.Y.Unused && (x.Series == "" || d.Lines[m.Line] == r.series) &&
								(panel.Across.Values == nil || panel.Across.Values[int(m.X)] == r.value)
						}
						if !slices.ContainsFunc(panel.Marks, isIt) {
							t.Errorf("%s: %s has no mark of %s, %s, %s", d.Name, panel.Up.Name, name, r.series, r.value)
						}
					}
				}
			}
			f, err := figure.Draw(d, figure.Options{})
			if len(x.rows) == 0 || !slices.ContainsFunc(d.Panels, func(p document.DrawingPanel) bool { return len(p.Marks) > 0 }) {
				continue // nothing is known of it
			}
			var out bytes.Buffer
			if err == nil {
				err = f.Write(&out, "svg")
			}
			if err != nil || !strings.Contains(f.Subtitle, "now: ") || !strings.Contains(strings.Join(f.Notes, " "), "Doubts, by how many of the ") || !strings.Contains(out.String(), "</svg>") {
				t.Errorf("%s: %q, %q, %v", d.Name, f.Subtitle, f.Notes, err)
			}
		}
	}
	if marks[claim.Published] < 1000 || marks[claim.Now] != marks[claim.Published] {
		t.Errorf("%v marks", marks)
	}
}

func TestACurveIsDrawnAsLatencyOverThroughput(t *testing.T) {
	p, err := ReadPaper("nilsson-pregen-2020")
	if err != nil {
		t.Fatal(err)
	}
	point := p.Grid[slices.IndexFunc(p.Grid, func(g study.Point) bool {
		return g.Axes["sweep"] == "rabbitmq" && g.Axes["store"] == "persistent" && g.Axes["guarantee"] == "at-least-once" && results.SameValue(g.Axes["messageSize"], "4096") && g.Axes["when"] == "now"
	})]
	r := store.Record{Study: p.Study.Name, PointID: "p", Axes: point.Axes, Repetition: 1, Status: store.OK, Spec: point.Spec, Result: &store.Result{}}
	for _, rate := range []float64{1000, 2000, 4000} {
		one := store.Measurement{Seconds: 10, OfferedRate: rate, PublishRate: rate, ReceiveRate: rate, Throughput: rate - 1}
		r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: rate, Status: store.OK, Measurement: one})
	}
	d := p.Drawings(results.Of([]store.Record{r}))[0]
	panel := d.Panels[0]
	if len(d.Panels) != 1 || panel.Across.Values != nil || panel.Across.Name != "throughput, msg/s" || panel.Up.Name != "e2e service mean, ms" {
		t.Errorf("%+v", d)
	}
	isPublished := func(m document.DrawingMark) bool { return d.Sides[m.Side].Name == claim.Published }
	if i := slices.IndexFunc(panel.Marks, isPublished); i < 0 || panel.Marks[i].X != 6560 || panel.Marks[i].Y.Number != 5.94 {
		t.Errorf("the thesis has 5.94 ms at 6560/s: %+v", panel.Marks)
	}
}

// As the text prints it: rows and columns instead of a row for each pair.
func TestAFigureOfASeriesStandsInRowsAndColumns(t *testing.T) {
	p, err := ReadPaper(paperFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	e := study.Exhibit{Title: "Table 1", Experiment: "rabbitmq-2", Rows: "partitionsPerTopic", Series: "mode", Columns: []study.Column{{Name: "publish_rate", Unit: "msg/s"}}}
	own := p.ownResults(results.Of(rerun(t, p, map[string]map[string][]float64{"then": {"1": {1000}, "50": {700}}, "now": {"25": {1600, 1800}, "1": {1500}}})))
	table := p.fillExhibit(e, own).table()
	var keys []string
	for _, c := range table.Columns {
		keys = append(keys, c.Key)
	}
	want := "partitionsPerTopic, publish_rate_auto ack_published, publish_rate_auto ack_then, publish_rate_auto ack_now, " +
		"publish_rate_manual ack_published, publish_rate_manual ack_then, publish_rate_manual ack_now"
	if got := strings.Join(keys, ", "); got != want || table.Title != "publish rate, msg/s by mode" {
		t.Errorf("%s: %s", table.Title, got)
	}
	var rows []string
	for _, r := range table.Rows {
		row := r["partitionsPerTopic"].Text
		for _, key := range keys[1:] {
			if c := r[key]; c.Kind == document.Blank {
				row += " –"
			} else {
				row += fmt.Sprint(" ", c.Number)
			}
		}
		rows = append(rows, row)
	}
	if got, want := strings.Join(rows, "; "), "1 11194 1000 1500 – 1000 1500; 25 8582 – 1700 – – 1700; 50 7589 700 – – 700 –"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	d := document.Document{Title: "t"}
	d.Add(table)
	for _, format := range []string{"markdown", "latex", "terminal", "csv", "jsonl"} {
		var out bytes.Buffer
		if err := render.Render(&out, d, format, render.Options{}); err != nil || !strings.Contains(out.String(), "manual ack") {
			t.Errorf("%s: %s, %v", format, out.String(), err)
		}
	}
}
