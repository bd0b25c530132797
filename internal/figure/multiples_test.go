package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

// curves are the demo's, one load to each rate; without the searches.
func curves(t *testing.T) []store.Record {
	t.Helper()
	records, err := store.Collect(results.Select(t.Context(), storetest.Records(storetest.Demo()), "measure=curve"))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestMultiplesRefuseWhatWouldMislead(t *testing.T) {
	varied := slices.Clone(chosen(t, "multiples"))
	for i := range varied {
		if i%2 == 1 {
			varied[i].Spec.InFlight.Messages, varied[i].PointID = 7, varied[i].PointID+"-7"
		}
	}
	for says, c := range map[string]struct {
		records []store.Record
		o       Options
	}{
		"they differ in inFlight.messages":   {append(varied, chosen(t, "multiples")...), Options{Metric: "sustainable_low"}},
		`doesn't vary in "colour"`:           {curves(t), Options{Row: "colour", Metric: "e2e_p99_ns"}},
		"lines and axis are the same, load":  {curves(t), Options{Row: "load", Col: "load", Metric: "e2e_p99_ns"}},
		"none of the records holds":          {curves(t), Options{Metric: "total_s"}},
		"an axis that varies besides broker": {chosen(t, "timeseries"), Options{Row: "broker", Metric: "e2e_p99_ns"}},
	} {
		if _, err := Build("multiples", results.Of(c.records), c.o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not what is said: %v", says, err)
		}
	}
}

func TestMultiplesHoldTheMediansOfWhatTheirTitlesSay(t *testing.T) {
	metric, err := results.MetricByKey("e2e_p99_ns")
	if err != nil {
		t.Fatal(err)
	}
	points := results.Of(curves(t)).Points
	m, err := newTrellis(points, metric, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.panelTitles, []string{"100 B", "1 KiB"}) || m.along.Name != "load" || !slices.Equal(m.lineNames, []string{"jetstream", "kafka", "nats", "rabbitmq"}) {
		t.Fatalf("panels %v, along %s, lines %v", m.panelTitles, m.along.Name, m.lineNames)
	}
	for _, d := range m.dots {
		i := slices.IndexFunc(points, func(p results.Point) bool {
			return p.Name == d.line && strings.HasPrefix(p.Setting(), d.panel+",")
		})
		var want []float64
		used := true
		for _, r := range points[i].Records {
			for _, c := range r.Result.Curve {
				if c.Fraction == d.mark.x {
					want, used = append(want, results.Quantile(c.Latency.EndToEnd, 0.99)), c.Status == store.OK
				}
			}
		}
		if s := results.Summarize(want); s.N != 3 || s.Median != d.mark.y || s.High != d.mark.high || used != d.mark.used {
			t.Errorf("%s, %s at %v: %+v, want %+v", d.panel, d.line, d.mark.x, d.mark, s)
		}
	}
	if len(m.dots) != 2*4*6 {
		t.Errorf("%d dots of 48", len(m.dots))
	}
}

func TestMultiplesDrawTheBracketOfASustainableRate(t *testing.T) {
	records := slices.Clone(chosen(t, "multiples"))
	for i, r := range records {
		if r.Spec.Broker == "nats" && r.Result != nil && r.Result.Sustainable != nil { // no rate failed
			result, open := *r.Result, *r.Result.Sustainable
			open.High, result.Sustainable = 0, &open
			records[i].Result = &result
		}
	}
	points := results.Of(records).Points
	m, err := newTrellis(points, results.MustMetric(results.KeySustainableLow), Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, d := range m.dots {
		i := slices.IndexFunc(points, func(p results.Point) bool {
			return p.Name == d.line && strings.HasPrefix(p.Setting(), m.along.Values[d.value]+",")
		})
		want := results.Sustained(points[i].Shown())
		if d.mark.y != want.Median || d.mark.low != want.Low || d.mark.high != want.High {
			t.Errorf("%s: %+v, want %+v", d.line, d.mark, want)
		}
		if math.IsInf(want.High, 1) {
			open++
		}
	}
	if len(m.dots) == 0 || open == 0 {
		t.Errorf("%d dots, %d of them without an upper bound", len(m.dots), open)
	}
	f, err := Build("multiples", results.Of(records), Options{})
	if err != nil {
		t.Fatal(err)
	}
	written(t, f, "svg")
	if words := strings.Join(f.Notes, " "); !strings.Contains(words, "highest failing rate of any repetition; an arrow where none failed") {
		t.Errorf("the notes don't say what the uprights are: %s", words)
	}
}

func TestAllPanelsOfMultiplesHaveTheSameScales(t *testing.T) {
	f, err := Build("multiples", results.Of(curves(t)), Options{Metric: "e2e_p99_ns"})
	if err != nil {
		t.Fatal(err)
	}
	a, b := f.Panels[0][0], f.Panels[0][1]
	if a.Plot.Y.Min != b.Plot.Y.Min || a.Plot.Y.Max != b.Plot.Y.Max || a.Plot.X.Min != b.Plot.X.Min || a.Plot.X.Max != b.Plot.X.Max {
		t.Errorf("scales differ: %v–%v and %v–%v", a.Plot.Y.Min, a.Plot.Y.Max, b.Plot.Y.Min, b.Plot.Y.Max)
	}
}

func TestWhatHasNoPlaceInMultiplesIsNamed(t *testing.T) {
	records := slices.Clone(chosen(t, "multiples"))
	for i, r := range records {
		if r.Spec.Broker == "jetstream" && r.Repetition > 0 {
			result := *r.Result
			result.Sustainable = &store.Sustainable{High: 10}
			records[i].Status, records[i].Reason, records[i].Result = store.Failed, "no rate was confirmed", &result
		}
	}
	f, err := Build("multiples", results.Of(records), Options{})
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(f.Notes, " ")
	for _, want := range []string{"Without a figure: ", "nats, at 1 KiB (refused)", "jetstream, at 100 B (0/s, not used)"} {
		if !strings.Contains(words, want) {
			t.Errorf("the notes don't say %q: %s", want, words)
		}
	}
	written(t, f, "svg") // a zero on a logarithmic axis would end it
}

func TestLabelsOfMultiplesDontOverlap(t *testing.T) {
	ticks := []plot.Tick{{Value: 100, Label: "100 B"}, {Value: 101, Label: "101 B"}, {Value: 102, Label: "102 B"}, {Value: 1024, Label: "1 KiB"}}
	var labels []string
	for _, tick := range withoutOverlaps(ticks, []float64{0, 1.0 / 924, 2.0 / 924, 1}, 4*vg.Centimeter) {
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	if !slices.Equal(labels, []string{"100 B", "1 KiB"}) {
		t.Errorf("labels %v", labels)
	}
}

// Labels that would overlap where three panels stand beside each other have room in one panel.
func TestASinglePanelShowsTheLabelsThatItHasRoomFor(t *testing.T) {
	var records []store.Record
	for i := range 14 {
		r := chosen(t, "multiples")[0]
		r.PointID, r.Axes = fmt.Sprint(i), map[string]string{"batch": fmt.Sprint(100 * (i + 1))}
		r.Spec.Topics = 1 + i
		records = append(records, r)
	}
	f, err := Build("multiples", results.Of(records), Options{Col: "batch", Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, tick := range f.Panels[0][0].Plot.X.Tick.Marker.Ticks(0, 1) {
		if tick.Label == "" {
			t.Errorf("no label at %v", tick.Value)
		}
	}
}

func TestAFigureOfAnUnknownMeasureAsksForAMetric(t *testing.T) {
	r := chosen(t, "multiples")[0]
	r.Spec.Measure = "novel"
	if _, err := Build("multiples", results.Of([]store.Record{r}), Options{}); err == nil || !strings.Contains(err.Error(), `"novel": choose one`) {
		t.Errorf("%v", err)
	}
}

// Two values may have one magnitude, and then no place of their own on an axis of numbers.
func TestValuesOfOneMagnitudeStandApart(t *testing.T) {
	var records []store.Record
	for i, batch := range []string{"1", "1.0"} {
		r := chosen(t, "multiples")[0]
		r.PointID, r.Axes = batch, map[string]string{"batch": batch}
		r.Spec.Topics = 1 + i
		records = append(records, r)
	}
	f, err := Build("multiples", results.Of(records), Options{Col: "batch"})
	if err != nil {
		t.Fatal(err)
	}
	written(t, f, "svg")
	if ticks := f.Panels[0][0].Plot.X.Tick.Marker.Ticks(0, 1); ticks[0].Value == ticks[1].Value || ticks[1].Label == "" {
		t.Errorf("the ticks are %v", ticks)
	}
}

// A rate of a curve that ended ok in one repetition and not in another is one dot, and what the failed one lost is lost.
func TestMultiplesDrawARateOnceHoweverItsRepetitionsEnded(t *testing.T) {
	for _, status := range []store.Status{store.Failed, store.Void} {
		records := slices.Clone(curves(t))
		var all []store.Record
		for _, r := range records {
			if len(r.Result.Curve) == 0 || r.Status != store.OK {
				continue
			}
			other := r
			result := *r.Result
			other.Result, other.Repetition = &result, r.Repetition+1000
			other.Result.Curve = slices.Clone(r.Result.Curve)
			for i := range other.Result.Curve {
				c := &other.Result.Curve[i]
				c.Status, c.Books.Lost = status, 7
			}
			all = append(all, r, other)
		}
		lost, err := results.MetricByKey("lost")
		if err != nil {
			t.Fatal(err)
		}
		m, err := newTrellis(results.Of(all).Points, lost, Options{})
		if err != nil {
			t.Fatalf("%s: %v", status, err)
		}
		used := 0
		for _, d := range m.dots {
			if !d.mark.used { // void in all repetitions
				continue
			}
			used++
			if (d.mark.y > 0) != (status == store.Failed) {
				t.Errorf("%s: %+v", status, d)
			}
		}
		if used == 0 {
			t.Error("no dots")
		}
	}
}

// A search that failed, or found nothing, has no figure as one that was refused has none.
func TestMultiplesNameWhatFailedWithoutAFigure(t *testing.T) {
	record := func(broker, size string, status store.Status, low float64) store.Record {
		r := store.Record{PointID: broker + size, Status: status, Repetition: 1, Spec: study.Spec{Broker: broker, Measure: study.MeasureSustainable}}
		r.Axes = map[string]string{"broker": broker, "messageSize": size}
		r.Spec.MessageSize = study.Sizes{{Size: map[string]study.Size{"100": 100, "1KiB": 1024}[size], Weight: 1}}
		if low >= 0 {
			r.Result = &store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: low}}
		}
		return r
	}
	f, err := Build("multiples", results.Of([]store.Record{
		record("kafka", "100", store.OK, 10), record("kafka", "1KiB", store.Failed, -1), record("nats", "100", store.Void, 0), record("nats", "1KiB", store.OK, 10),
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Without a figure: nats, at 100 B (void); kafka, at 1 KiB (failed)."; !slices.Contains(f.Notes, want) {
		t.Errorf("the notes are %q, want %q among them", f.Notes, want)
	}
}

// Separate runs have no axes of a study. What differs between them varies all the same, as multiples and the page have it.
func TestAHeatMapFindsTheAxesOfSeparateRuns(t *testing.T) {
	var records []store.Record
	for _, broker := range []string{"kafka", "nats"} {
		for _, size := range []study.Size{100, 1024} {
			spec := study.Spec{Broker: broker, Measure: study.MeasureSustainable, MessageSize: study.Sizes{{Size: size, Weight: 1}}}
			records = append(records, store.Record{
				PointID: broker + size.String(), Status: store.OK, Repetition: 1, Spec: spec, Result: &store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 10}},
			})
		}
	}
	f, err := Build("heatmap", results.Of(records), Options{})
	if err != nil || f.Title != "Sustainable by broker and messageSize" {
		t.Errorf("%q, %v", f.Title, err)
	}
	_, err = Build("heatmap", results.Of(records[:2]), Options{})
	if err == nil || !strings.Contains(err.Error(), "there are: messageSize") {
		t.Errorf("of two sizes of one broker: %v", err)
	}
}
