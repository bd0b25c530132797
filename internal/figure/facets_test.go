package figure

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// swept is a sweep of the window and the topics at two sizes and two deliveries, whose p99 follows from its place.
func swept(t *testing.T) []store.Record {
	t.Helper()
	base := chosen(t, "heatmap")
	var records []store.Record
	for _, r := range base {
		if r.Spec.Broker != "kafka" && r.Spec.Broker != "rabbitmq" || r.Status != store.OK {
			continue
		}
		for i, topics := range []string{"1", "8"} {
			for _, window := range []string{"10", "100", "1000"} {
				again, result := r, *r.Result
				again.PointID += "-" + topics + "-" + window
				again.Axes = map[string]string{"broker": r.Spec.Broker, "messageSize": r.Axes["messageSize"], "topics": topics, "inFlight.messages": window}
				again.Spec.Topics = 1 + 7*i
				again.Spec.InFlight.Messages = map[string]int{"10": 10, "100": 100, "1000": 1000}[window]
				bracket := *r.Result.Sustainable
				bracket.Low *= float64(1 + i + len(window))
				result.Sustainable, again.Result = &bracket, &result
				records = append(records, again)
			}
		}
	}
	if len(records) == 0 {
		t.Fatal("the demo has no search of kafka or rabbitmq")
	}
	return records
}

func TestAHeatMapHasAPanelForEachValueOfWhatElseVaries(t *testing.T) {
	set := results.Of(swept(t))
	f, err := Build("heatmap", set, Options{Row: "topics", Col: "inFlight.messages"})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, row := range f.Panels {
		for _, p := range row {
			if p != nil {
				titles = append(titles, p.Title)
			}
		}
	}
	if want := []string{"kafka, 100 B", "kafka, 1 KiB", "rabbitmq, 100 B", "rabbitmq, 1 KiB"}; !slices.Equal(titles, want) {
		t.Errorf("panels %q, want %q", titles, want)
	}
	svg := strings.Join(texts(t, written(t, f, "svg")), "\n")
	note := "Panels: broker, messageSize; all have the same colours."
	if said := strings.Join(f.Notes, " "); !strings.Contains(said, note) {
		t.Errorf("notes %q, want %q", said, note)
	}
	for _, says := range append(titles, "Panels: broker, messageSize; all have the same") { // its last word is on the next line
		if !strings.Contains(svg, says) {
			t.Errorf("the figure doesn't say %q", says)
		}
	}
}

func TestFacetsShareRowsColumnsAndColoursAndHoldTheirOwnCells(t *testing.T) {
	points := results.Of(swept(t)).Points
	m, err := results.MetricByKey("sustainable_low")
	if err != nil {
		t.Fatal(err)
	}
	heats, _, err := facetsOf(points, m, heatAxes{"topics", "inFlight.messages"})
	if err != nil {
		t.Fatal(err)
	}
	cells := 0
	for _, h := range heats {
		if !slices.Equal(h.rows, []string{"1", "8"}) || !slices.Equal(h.cols, []string{"10", "100", "1000"}) || h.colours != heats[0].colours {
			t.Errorf("%s: rows %v, columns %v, colours from %v to %v", h.title, h.rows, h.cols, h.colours.low, h.colours.high)
		}
		for _, p := range points {
			at := heatAxes{"topics", "inFlight.messages"}.cellOf(p)
			cell, ok := h.cells[at]
			if name := p.Product + ", " + strings.Split(p.Setting(), ",")[0]; name == h.title && (!ok || cell.value != results.Summarize(m.Values(p.Ok())).Median) {
				t.Errorf("%s: the cell at %v is %+v", h.title, at, cell)
			}
		}
		cells += len(h.cells)
	}
	if cells != len(points) {
		t.Errorf("%d cells of %d points", cells, len(points))
	}
}

// A setting that was not varied on purpose is no axis: nothing names the panels that it would need.
func TestAHeatMapRefusesPointsThatOnlyAnUnnamedSettingSetsApart(t *testing.T) {
	records := swept(t)
	for _, r := range slices.Clone(records) {
		r.PointID, r.Spec.Drain = r.PointID+"-drain", 2*r.Spec.Drain
		records = append(records, r)
	}
	if _, err := Build("heatmap", results.Of(records), Options{Row: "topics", Col: "inFlight.messages"}); err == nil || !strings.Contains(err.Error(), "they differ in drain") {
		t.Error(err)
	}
}

func TestAHeatMapOfTooManyPanelsIsRefused(t *testing.T) {
	var records []store.Record
	for _, seed := range []string{"a", "b", "c", "d"} {
		for _, r := range swept(t) {
			r.PointID += "-" + seed
			r.Axes = map[string]string{"broker": r.Axes["broker"], "messageSize": r.Axes["messageSize"], "topics": r.Axes["topics"], "inFlight.messages": r.Axes["inFlight.messages"], "client.linger": seed}
			r.Spec.Client = map[string]any{"linger": seed}
			records = append(records, r)
		}
	}
	if _, err := Build("heatmap", results.Of(records), Options{Row: "topics", Col: "inFlight.messages"}); err == nil || !strings.Contains(err.Error(), "gives 16 panels") {
		t.Error(err)
	}
}

// One repetition of three lost messages. A median would hide them, and the tables show their sum.
func TestHeatMapsAndMultiplesDrawTheSumOfACount(t *testing.T) {
	records := swept(t)
	for i := range records {
		result := *records[i].Result
		result.Books.Lost = 0
		if records[i].Repetition == 1 {
			result.Books.Lost = 5000
		}
		records[i].Result = &result
	}
	points, lost := results.Of(records).Points, results.MustMetric(results.KeyLost)
	if len(points[0].Records) < 3 {
		t.Fatalf("%d repetitions, want at least 3", len(points[0].Records))
	}
	if cell := heatCellOf(points[0], lost); cell.value != 5000 {
		t.Errorf("the heat map says that %v messages were lost, want 5000", cell.value)
	}
	m, err := newTrellis(points, lost, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if y := m.dots[0].mark.y; y != 5000 {
		t.Errorf("the multiples say that %v messages were lost, want 5000", y)
	}
	for _, name := range []string{"heatmap", "multiples"} {
		f, err := Build(name, results.Of(records), Options{Metric: results.KeyLost})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(f.Notes[0], "Sums over repetitions") {
			t.Errorf("the notes of %s begin with %q", name, f.Notes[0])
		}
	}
}
