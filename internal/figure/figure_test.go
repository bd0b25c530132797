package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/unit"
)

// chosen is what each figure is shown in these tests.
func chosen(t *testing.T, name string) []store.Record {
	t.Helper()
	expr, ok := map[string]string{
		"latency-throughput": "study=head-to-head", "percentiles": "load.rate=20000", "timeseries": "load.rate=20000",
		"cost": "study=head-to-head", "sustainable": "study=head-to-head", "heatmap": "measure=sustainable", "multiples": "measure=sustainable",
	}[name]
	if !ok {
		t.Fatalf("figure %s is shown nothing in the tests", name)
	}
	records, err := store.Collect(results.Select(t.Context(), storetest.Records(storetest.Demo()), expr))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func built(t *testing.T, name string, o Options) Figure {
	t.Helper()
	f, err := Build(name, results.Of(chosen(t, name)), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A control character makes an SVG no XML, and one of those that reorder what stands around them makes a name look like another.
func TestNoTextOfAFigureHoldsControlCharacters(t *testing.T) {
	f := built(t, "cost", Options{})
	f.Title = "a\x1b[31m\u202eb\tc"
	if svg := string(written(t, f, "svg")); !strings.Contains(svg, ">a[31mb c<") || strings.ContainsAny(svg, "\x1b\u202e") {
		t.Error("the title is written as it is")
	}
}

func TestALongNameIsCutAtOnce(t *testing.T) {
	style, began := letters(smallSize, soft), time.Now()
	name := strings.Repeat("x", 50_000)
	got := cut(style, name, 100)
	if took := time.Since(began); took > testkit.Within(5*time.Second) {
		t.Errorf("took %s", took)
	}
	if width := style.Width(got); width > 100 || width < 90 || !strings.HasSuffix(got, "x…") {
		t.Errorf("%q is %v wide", got, width)
	}
}

func written(t *testing.T, f Figure, format string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := f.Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// texts are the words of an SVG; it fails on anything that isn't one.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var words []string
	inside := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
			if token.Name.Local == "script" {
				t.Error("a script got into the figure")
			}
		case xml.CharData:
			if inside {
				words = append(words, string(token))
			}
		case xml.EndElement:
			inside = false
		}
	}
}

func TestRecordsWithNothingToShowAreAnsweredWithASentence(t *testing.T) {
	for what, records := range storetest.Empty() {
		for _, name := range Names() {
			f, err := Build(name, results.Of(records), Options{})
			var none *ErrNothing
			switch {
			case err == nil:
				written(t, f, "svg")
			case !errors.As(err, &none) || len(err.Error()) < 20:
				t.Errorf("%s of %s: %v", name, what, err)
			}
		}
	}
	if _, err := Build("pie", results.Of(nil), Options{}); err == nil || !strings.Contains(err.Error(), "known: latency-throughput") {
		t.Error(err)
	}
	if _, err := Build("heatmap", results.Of(storetest.Demo()), Options{Row: "colour"}); err == nil || !strings.Contains(err.Error(), `no record has a setting "colour"`) {
		t.Error(err)
	}
	if _, err := Build("heatmap", results.Of(storetest.Demo()), Options{Metric: "beauty"}); err == nil || !strings.Contains(err.Error(), "unknown metric") {
		t.Error(err)
	}
	if _, err := Build("percentiles", results.Of(storetest.Demo()), Options{Latency: "telepathy"}); err == nil || !strings.Contains(err.Error(), "unknown latency") {
		t.Error(err)
	}
	if _, err := Build("percentiles", results.Of(storetest.Demo()), Options{}); err == nil || !strings.Contains(err.Error(), "narrow it with --where") {
		t.Error(err)
	}
}

func TestEveryFigureIsWrittenInEveryFormat(t *testing.T) {
	for _, name := range Names() {
		f := built(t, name, Options{})
		for format, begins := range map[string]string{"svg": "<?xml", "png": "\x89PNG", "pdf": "%PDF"} {
			if testing.Short() && format == "png" && name != Names()[0] { // rasters are slow under the race detector
				continue
			}
			if data := written(t, f, format); !bytes.HasPrefix(data, []byte(begins)) {
				t.Errorf("%s as %s begins with %q", name, format, data[:8])
			}
		}
		words := texts(t, written(t, f, "svg"))
		for _, want := range []string{f.Title, "n ="} {
			if !strings.Contains(strings.Join(words, "\n"), want) {
				t.Errorf("%s doesn't say %q", name, want)
			}
		}
		if keep := os.Getenv("BROKERMARK_FIGURES"); keep != "" {
			if err := os.WriteFile(filepath.Join(keep, name+".png"), written(t, f, "png"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(keep, name+".pdf"), written(t, f, "pdf"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAFigureIsTheSameEveryTime(t *testing.T) {
	for _, name := range Names() {
		a, b := written(t, built(t, name, Options{}), "svg"), written(t, built(t, name, Options{}), "svg")
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs from itself", name)
		}
	}
}

func TestSizeAndTitleAreThoseAskedFor(t *testing.T) {
	f := built(t, "sustainable", Options{Title: "Mine", Width: 10 * vg.Centimeter, Height: 8 * vg.Centimeter})
	cfg, err := png.DecodeConfig(bytes.NewReader(written(t, f, "png")))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Width != 787 || cfg.Height != 630 { // centimetres of 200/2.54 dots
		t.Errorf("%d × %d dots", cfg.Width, cfg.Height)
	}
	if !slices.Contains(texts(t, written(t, f, "svg")), "Mine") {
		t.Error("the title isn't there")
	}
}

func TestVoidPointsAreShownAndNeverJoined(t *testing.T) {
	m := func(x float64, used bool) mark { return exactMark(x, 1, used) }
	gap := exactMark(3, math.NaN(), true)
	for _, c := range []struct {
		name  string
		marks []mark
		want  []int // lengths of the runs
	}{
		{"none", nil, nil},
		{"only void", []mark{m(1, false), m(2, false)}, nil},
		{"void in the middle", []mark{m(1, true), m(2, true), m(3, false), m(4, true)}, []int{2, 1}},
		{"a gap", []mark{m(1, true), m(2, true), gap, m(4, true)}, []int{2, 1}},
		{"all used", []mark{m(1, true), m(2, true)}, []int{2}},
	} {
		var got []int
		for _, run := range stretches(c.marks) {
			got = append(got, len(run))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: runs of %v, want %v", c.name, got, c.want)
		}
	}
	kind, _ := results.LatencyByName("")
	points := results.Of(storetest.Demo()).Points
	points = slices.DeleteFunc(points, func(p results.Point) bool { return p.Spec.Measure != "curve" })
	groups := results.BySetting(points)
	i := slices.IndexFunc(groups, func(g results.Group[results.Point]) bool { return g.Name == "1 KiB, at-least-once" })
	marks := throughputMarks(groups[i].Members, "rabbitmq", kind.Quantile(0.99))
	if len(marks) != 6 || marks[2].used || !marks[1].used || !marks[3].used {
		t.Errorf("the curve with a void point became %+v", marks)
	}
	if !marks[0].used || !(marks[0].low < marks[0].y) || !(marks[0].high > marks[0].y) {
		t.Errorf("three repetitions without an interval: %+v", marks[0])
	}
}

// An overloaded broker confirms less of a higher rate. A line in the order of what was confirmed would jump to and fro between its loads.
func TestALineOfLatenciesFollowsTheOfferedRates(t *testing.T) {
	point := func(offered, confirmed float64) results.Point {
		spec := study.Spec{Broker: "kafka", Measure: "rate"}
		spec.Load.Shape, spec.Load.Rate = "constant", offered
		result := &store.Result{}
		result.PublishRate = confirmed
		h := hist.New()
		h.Record(1e6)
		result.Latency.EndToEnd = h.Snapshot()
		return results.Of([]store.Record{{
			PointID: fmt.Sprint(offered), Status: store.OK, Repetition: 1, Spec: spec, Result: result,
		}}).Points[0]
	}
	kind, _ := results.LatencyByName("")
	var confirmed []float64
	for _, m := range throughputMarks([]results.Point{point(3000, 1500), point(1000, 1000), point(2000, 2000)}, "kafka", kind.Quantile(0.5)) {
		confirmed = append(confirmed, m.x)
	}
	if !slices.Equal(confirmed, []float64{1000, 2000, 1500}) {
		t.Errorf("the line joins %v", confirmed)
	}
}

func TestHeatCellsHoldTheMediansAndTellRefusedFromMissing(t *testing.T) {
	points := results.Of(chosen(t, "heatmap")).Points
	m, err := results.MetricByKey("sustainable_low")
	if err != nil {
		t.Fatal(err)
	}
	heats, _, err := facetsOf(points, m, heatAxes{"broker", "messageSize"})
	if err != nil || len(heats) != 1 || heats[0].title != "" {
		t.Fatalf("%v; %d heat maps, want one without a title", err, len(heats))
	}
	h := heats[0]
	if !slices.Equal(h.rows, []string{"jetstream", "kafka", "nats", "rabbitmq"}) || !slices.Equal(h.cols, []string{"100", "1024"}) && !slices.Equal(h.cols, []string{"100", "1KiB"}) {
		t.Errorf("rows %v, columns %v", h.rows, h.cols)
	}
	if c := h.cells[cellKey{h.rows[2], h.cols[1]}]; c.word != "refused" || c.used {
		t.Errorf("the refused cell: %+v", c)
	}
	want := results.Summarize(m.Values(points[0].Ok())).Median
	if got := h.cells[cellKey{points[0].Spec.Broker, points[0].Records[0].Axes["messageSize"]}]; got.value != want || !got.used {
		t.Errorf("got %+v, want %v", got, want)
	}
}

func TestTicksAreRoundAndSayTheirUnit(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		unit      unit.Unit
		most      int
		want      string
	}{
		{9e4, 6e6, unit.Nanoseconds, 9, "100 µs 200 µs 500 µs 1 ms 2 ms 5 ms"},
		{9e4, 6e6, unit.Nanoseconds, 4, "100 µs 300 µs 1 ms 3 ms"},
		{900, 1.1e6, unit.PerSecond, 4, "1k/s 10k/s 100k/s 1M/s"},
		{900, 1.1e9, unit.PerSecond, 4, "10k/s 1M/s 100M/s"},
		{1000, 3000, unit.PerSecond, 9, "1k/s 2k/s 3k/s"},
	} {
		var words []string
		for _, tick := range logTicks(c.low, c.high, c.unit, c.most) {
			if tick.Label != "" {
				words = append(words, tick.Label)
			}
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	var sizes []string
	for _, tick := range linearTicks(0, 700<<20, unit.Bytes, 4) {
		sizes = append(sizes, tick.Label)
	}
	if got := strings.Join(sizes, " "); got != "0 200 MiB 400 MiB 600 MiB" {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsNotUsedNeitherScalesTheAxisNorLooksLikeAFigure(t *testing.T) {
	records := chosen(t, "sustainable")
	failed := records[0]
	result := *failed.Result
	failed.Status, failed.Reason, failed.Result = store.Failed, "no rate was confirmed", &result
	result.Sustainable = &store.Sustainable{High: 1e9}
	rows := sustainableBars(results.Of([]store.Record{failed, records[2]}).Points, []string{"kafka", "rabbitmq"})
	if len(rows) != 2 || rows[1].word != "failed" || rows[0].word != "" {
		t.Fatalf("rows %+v", rows)
	}
	void := bar{parts: []float64{10}, interval: &interval{low: 1, high: 1e9}, colour: palette[0]}
	if p := barsPanel("", "", []bar{void}, unit.PerSecond); p.Plot.X.Max > 20 {
		t.Errorf("the axis goes to %v", p.Plot.X.Max)
	}
}

// A curve that ended ok and doesn't hold its search has no bar: beside the search's own it would say that the rate is not known.
func TestACurveWithoutItsSearchHasNoBar(t *testing.T) {
	for _, row := range built(t, "sustainable", Options{}).Panels {
		for _, p := range row {
			seen := map[string]bool{}
			for _, tick := range p.Plot.Y.Tick.Marker.Ticks(p.Plot.Y.Min, p.Plot.Y.Max) {
				if seen[tick.Label] {
					t.Errorf("%s: two bars of %s", p.Title, tick.Label)
				}
				seen[tick.Label] = true
			}
		}
	}
}

// A lag of nothing has no place on a logarithmic axis, and neither has an objective of it.
func TestALatencyOfNothingIsDrawn(t *testing.T) {
	for _, name := range []string{"percentiles", "latency-throughput"} {
		records := slices.Clone(chosen(t, name))
		for i, r := range records {
			records[i].Spec.Objectives = map[string]any{"lag_p99": 0}
			if r.Result == nil {
				continue
			}
			h := hist.New()
			for k := range int64(100) {
				h.Record(max(0, k-60) * 1000)
			}
			result := *r.Result
			result.Latency.Lag = h.Snapshot()
			result.Curve = slices.Clone(result.Curve)
			for k := range result.Curve {
				result.Curve[k].Latency.Lag = h.Snapshot()
			}
			records[i].Result = &result
		}
		for _, linear := range []bool{false, true} {
			f, err := Build(name, results.Of(records), Options{Latency: "lag", Linear: linear})
			if err != nil {
				t.Fatal(err)
			}
			written(t, f, "svg")
		}
	}
}

func TestTimeTicksAreShort(t *testing.T) {
	for _, tick := range append(secondsTicks(-2, 1.8), secondsTicks(math.Copysign(0, -1), 1.8)...) {
		if len([]rune(tick.Label)) > 4 || tick.Label == "–0" {
			t.Errorf("tick %q", tick.Label)
		}
	}
}

func TestTheSubtitleNamesWhatIsKnownOfTheMachine(t *testing.T) {
	for _, c := range []struct {
		host store.Host
		want string
	}{{store.Host{CPU: "Xeon", Cores: 8}, "Xeon, 8 cores"}, {store.Host{Cores: 8}, "8 cores"}, {store.Host{CPU: "Xeon"}, "Xeon"}, {store.Host{}, ""}} {
		if got := machineOf(store.Record{Host: c.host}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.host, got, c.want)
		}
	}
}

func TestTheSubtitleCountsTheRepetitionsThatAreDrawn(t *testing.T) {
	for name, n := range map[string]string{"sustainable": "n = 2 to 3", "timeseries": "n = 1"} {
		got := strings.ReplaceAll(built(t, name, Options{}).Subtitle, noBreakSpace, " ")
		if !strings.HasSuffix(got, "· "+n) {
			t.Errorf("%s: %s, want %s", name, got, n)
		}
	}
}

func TestAFigureNamesTheDoubtsOfWhatItShows(t *testing.T) {
	records := storetest.Demo()
	for i := range records {
		records[i].Doubts = nil
	}
	notes := func() string {
		f, err := Build("sustainable", results.Of(records), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(f.Notes, " ")
	}
	if text := notes(); strings.Contains(text, "Doubts") {
		t.Errorf("nothing is doubted, and yet: %s", text)
	}
	for i := range records {
		records[i].Doubts = []store.Doubt{{Code: "busy-machine", Text: "others used 1.3 cores"}, {Code: "busy-machine", Text: "and again"}}
	}
	shown := 0
	for _, p := range results.Of(records).Points {
		shown += len(p.Shown())
	}
	if text, want := notes(), fmt.Sprintf("of the %d selected repetitions have them: machine (%d)", shown, shown); !strings.Contains(text, want) {
		t.Errorf("%q says not %q", text, want)
	}
}

func TestNoFigureDrawsTheLatencyOfAClosedLoop(t *testing.T) {
	records := chosen(t, "percentiles")
	for i := range records {
		records[i].Spec.Measure = "peak"
	}
	for name, o := range map[string]Options{"percentiles": {}, "latency-throughput": {}, "multiples": {Metric: "e2e_p99_ns"}, "heatmap": {Metric: "e2e_p99_ns"}} {
		if _, err := Build(name, results.Of(records), o); err == nil {
			t.Errorf("%s draws it", name)
		} else if name == "percentiles" && !strings.Contains(err.Error(), "closed loops") {
			t.Errorf("%s doesn't say why: %v", name, err)
		}
	}
	f, err := Build("timeseries", results.Of(records), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		for _, panel := range results.CoursePanels(r) {
			if panel.Unit != unit.Nanoseconds {
				continue
			}
			for _, trace := range (run{record: r}).traces(panel) {
				for _, m := range trace.marks {
					if !math.IsNaN(m.y) {
						t.Fatalf("the course over time holds a latency of %v", m.y)
					}
				}
			}
		}
	}
	written(t, f, "svg")
}

// The last sample of the measured phase is older than its end.
func TestTheMeasuredPhaseIsNotShadedAsDrain(t *testing.T) {
	r := store.Record{Result: &store.Result{Measurement: store.Measurement{Seconds: 10, Series: []store.Tick{
		{OffsetNs: -5e8, Phase: "warmup"}, {OffsetNs: 5e8, Phase: "measure"}, {OffsetNs: 95e8, Phase: "measure"}, {OffsetNs: 101e8, Phase: "drain"}, {OffsetNs: 12e9, Phase: "drain"},
	}}}}
	got := unmeasured([]run{{record: r}}, -1, 12)
	if len(got) != 2 || got[0] != (band{-1, 0}) || got[1] != (band{10, 12}) {
		t.Errorf("shaded %v, want -1 to 0 and 10 to 12", got)
	}
}

// A latency between two hosts may be off by the error of their clocks, as tables say. It is never below 0.
func TestAnIntervalOfLatencyHoldsTheErrorOfTheClocks(t *testing.T) {
	spec := study.Spec{Broker: "kafka", Measure: "rate"}
	spec.Load.Shape, spec.Load.Rate = "constant", 1000
	result := &store.Result{}
	result.PublishRate, result.ClockBoundNs = 1000, 3e6
	h := hist.New()
	h.Record(2e6)
	result.Latency.EndToEnd = h.Snapshot()
	points := results.Of([]store.Record{{PointID: "p", Status: store.OK, Repetition: 1, Spec: spec, Result: result}}).Points
	kind, err := results.LatencyByName("e2e")
	if err != nil {
		t.Fatal(err)
	}
	m := throughputMarks(points, "kafka", kind.Quantile(0.5))[0]
	if math.Abs(m.y-2e6) > 0.01*2e6 || m.low != 0 || math.Abs(m.high-5e6) > 0.01*5e6 {
		t.Errorf("%+v; want 2 ms within 0 and 5 ms", m)
	}
}

func TestTheCostsOfCurvesAreNotLeftOutInSilence(t *testing.T) {
	isCurve := func(r store.Record) bool { return r.Spec.Measure == study.MeasureCurve }
	all := storetest.Demo()
	oneCurve := slices.DeleteFunc(slices.Clone(all), func(r store.Record) bool { return !isCurve(r) })
	oneCurve = slices.DeleteFunc(oneCurve, func(r store.Record) bool { return r.PointID != oneCurve[0].PointID })
	for name, c := range map[string]struct {
		records []store.Record
		leftOut bool
	}{
		"beside others": {all, true},
		"alone":         {oneCurve, false},
		"none":          {slices.DeleteFunc(slices.Clone(all), isCurve), false},
	} {
		f, err := Build("cost", results.Of(c.records), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if said := strings.Contains(strings.Join(f.Notes, " "), "Curves measured beside other loads are left out"); said != c.leftOut {
			t.Errorf("%s: the notes are %q", name, f.Notes)
		}
	}
}

// A curve is several loads, one after the other. Only one of them is drawn: it has a name, and none that is void looks like one that isn't.
func TestACourseOfACurveSaysWhichRateItIs(t *testing.T) {
	for name, c := range map[string]struct {
		statuses []store.Status // of the rates 1k/s and 2k/s
		want     string
		used     bool
	}{
		"all ok":      {[]store.Status{store.OK, store.OK}, "curve 2k/s", true},
		"a void last": {[]store.Status{store.OK, store.Void}, "curve 1k/s", true},
		"all void":    {[]store.Status{store.Void, store.Void}, "curve 2k/s", false},
	} {
		spec := study.Spec{Broker: "kafka", Measure: study.MeasureCurve}
		result := &store.Result{}
		for i, status := range c.statuses {
			rate := store.CurvePoint{Rate: 1000 * float64(i+1), Status: status, Reason: "the generator was late"}
			rate.Seconds, rate.Series = 1, []store.Tick{{OffsetNs: 1e8, Phase: "measure", PublishRate: rate.Rate}, {OffsetNs: 6e8, Phase: "measure", PublishRate: rate.Rate}}
			result.Curve, result.Measurement = append(result.Curve, rate), rate.Measurement
		}
		f, err := Build("timeseries", results.Of([]store.Record{{PointID: "p", Status: store.OK, Repetition: 1, Spec: spec, Result: result}}), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if !strings.HasSuffix(f.Legend[0].Text, c.want) {
			t.Errorf("%s: the legend says %q, want %q", name, f.Legend[0].Text, c.want)
		}
		if said := strings.Contains(strings.Join(f.Notes, " "), "void: the generator was late"); said == c.used {
			t.Errorf("%s: the notes are %q", name, f.Notes)
		}
	}
}

// What failed, was refused or has no latency is in the selection, and often in the legend. A reader must not take its absence for an answer.
func TestAFigureOfLatenciesNamesWhatItDoesNotDraw(t *testing.T) {
	h := hist.New()
	h.Record(1e6)
	measured := store.Measurement{PublishRate: 1000, Latency: store.Latency{EndToEnd: h.Snapshot()}}
	record := func(broker, measure string, status store.Status, result *store.Result) store.Record {
		spec := study.Spec{Broker: broker, Measure: measure}
		spec.Load.Shape, spec.Load.Rate = "constant", 1000
		return store.Record{PointID: broker + measure, Status: status, Repetition: 1, Spec: spec, Result: result}
	}
	curve := &store.Result{Measurement: measured, Curve: []store.CurvePoint{{Rate: 1000, Status: store.OK, Measurement: measured}, {Rate: 2000, Status: store.Failed}}}
	set := results.Of([]store.Record{
		record("kafka", "curve", store.OK, curve), record("nats", "rate", store.Refused, nil),
		record("redis", "rate", store.OK, &store.Result{Measurement: store.Measurement{PublishRate: 1000}}), record("pulsar", "peak", store.OK, &store.Result{Measurement: measured}),
	})
	for name, want := range map[string]string{
		"latency-throughput": "Without a figure: kafka, curve 2k/s (failed); nats, rate 1k/s (refused); redis, rate 1k/s (not known).",
		"percentiles":        "Without a figure: kafka, curve 2k/s (failed); nats, rate 1k/s (refused); pulsar, peak (closed loop); redis, rate 1k/s (not known).",
	} {
		f, err := Build(name, set, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.Contains(f.Notes, want) {
			t.Errorf("%s: the notes are %q, want %q among them", name, f.Notes, want)
		}
	}
	for _, name := range []string{"latency-throughput", "percentiles"} {
		f, err := Build(name, results.Of([]store.Record{record("kafka", "rate", store.OK, &store.Result{Measurement: measured})}), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if strings.Contains(strings.Join(f.Notes, " "), "Without a figure") {
			t.Errorf("%s draws everything, and its notes are %q", name, f.Notes)
		}
	}
}
