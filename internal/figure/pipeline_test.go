package figure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// piped gives a record the pipeline that its series is one of: looks each half second, of which one was not answered.
func piped(t *testing.T) store.Record {
	t.Helper()
	for _, r := range chosen(t, "timeseries") {
		if r.Result == nil || len(r.Result.Series) == 0 {
			continue
		}
		result := *r.Result
		r.Result = &result
		p := &store.Pipeline{Parts: []store.PipelinePart{{Name: "client"}, {Name: "server"}, {Name: "broker"}, {Name: "consumer"}}}
		begin := int64(result.WarmupSeconds * 1e9)
		for n := range int64(6) {
			look := store.PipelineTick{OffsetNs: begin + n*5e8, CPU: []float64{0.1, 0.2, 0.3, 0.4}, RSSBytes: []int64{1e6, 2e6, 3e6, 4e6 + n}}
			if n != 3 {
				look.Queue, look.Unacked = new(10*n), new(n)
				look.PublishedRate, look.DeliveredRate = new(float64(300+n)), new(float64(200+n))
			}
			p.Series = append(p.Series, look)
		}
		result.Pipeline = p
		result.Faults = []store.FaultEvent{{OffsetNs: 1e9, Do: "kill", Part: "server-1"}, {OffsetNs: 2e9, Do: "pause", Node: 2}}
		return r
	}
	t.Fatal("no record has a series")
	return store.Record{}
}

func TestTheCourseOfAPipelineHasItsQueueAndEachPart(t *testing.T) {
	r := piped(t)
	f, err := Build("timeseries", results.Of([]store.Record{r}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	words := texts(t, written(t, f, "svg"))
	for _, want := range []string{"queue (messages)", "through the queue (messages/s)", "CPU of each part (cores)", "memory of each part", "client", "server", "broker", "consumer", "kill server-1", "pause node 2"} {
		if !slices.Contains(words, want) {
			t.Errorf("%q is not in the figure: %q", want, words)
		}
	}
	for _, want := range []string{"published · broker CPU · waiting in the queue · into the queue", "received · generator CPU · unacknowledged · out of the queue"} {
		if !slices.Contains(words, want) { // and nothing of latencies, which no panel shows
			t.Errorf("the legend has no %q: %q", want, words)
		}
	}
	if slices.Contains(words, "e2e latency") {
		t.Error("there is a panel of latencies, of which a pipeline has no course")
	}
	if strings.Contains(strings.Join(words, "\n"), "latency") {
		t.Errorf("something is said of latencies, which no panel shows: %q", words)
	}
	panels := results.CoursePanels(r)[3:]
	for i, want := range [][][]float64{
		{{0, 10, 20, math.NaN(), 40, 50}, {0, 1, 2, math.NaN(), 4, 5}},
		{{300, 301, 302, math.NaN(), 304, 305}, {200, 201, 202, math.NaN(), 204, 205}},
		{slices.Repeat([]float64{0.1}, 6), slices.Repeat([]float64{0.2}, 6), slices.Repeat([]float64{0.3}, 6), slices.Repeat([]float64{0.4}, 6)},
		{slices.Repeat([]float64{1e6}, 6), slices.Repeat([]float64{2e6}, 6), slices.Repeat([]float64{3e6}, 6), {4e6, 4e6 + 1, 4e6 + 2, 4e6 + 3, 4e6 + 4, 4e6 + 5}},
	} {
		traces := run{record: r}.traces(panels[i])
		if len(traces) != len(want) {
			t.Fatalf("%s: %d lines, want %d", panels[i].Title, len(traces), len(want))
		}
		for k, line := range want {
			first := slices.IndexFunc(traces[k].marks, func(m mark) bool { return m.x == 0 })
			for n, m := range traces[k].marks[first : first+len(line)] {
				if math.Abs(m.x-float64(n)/2) > 1e-6 || m.y != line[n] && !(math.IsNaN(m.y) && math.IsNaN(line[n])) {
					t.Errorf("%s, line %d: %v at %v s, want %v", panels[i].Title, k, m.y, m.x, line[n])
				}
			}
		}
	}
}

func TestSeveralPipelinesShareTheirQueuesPanels(t *testing.T) {
	r := piped(t)
	if got := results.CoursePanels(r, r); len(got) != 5 {
		t.Errorf("%d panels, want three of every run and two of the queues", len(got))
	}
	other := piped(t)
	other.Result.Pipeline = nil
	if got := results.CoursePanels(other); len(got) != 4 {
		t.Errorf("%d panels without a pipeline", len(got))
	}
}

func TestAClosedLoopHasNoEmptyPanelOfLatencies(t *testing.T) {
	r := chosen(t, "timeseries")[0]
	for measure, want := range map[string]bool{study.MeasureRate: true, study.MeasurePeak: false} {
		r.Spec.Measure = measure
		has := slices.ContainsFunc(results.CoursePanels(r), func(p results.CoursePanel) bool { return p.Title == "e2e latency" })
		if has != want {
			t.Errorf("%s: a panel of latencies: %t", measure, has)
		}
	}
}

// Before the meters were first read, and for runs of one process, nothing is known of the sides; that is no 0.
func TestSidesThatWereNotMeteredAreAGap(t *testing.T) {
	r := chosen(t, "timeseries")[0]
	result := *r.Result
	result.Series = slices.Clone(result.Series)
	for i := range result.Series[1:] {
		result.Series[i+1].Sides = &store.SidesTick{}
	}
	r.Result = &result
	panels := results.CoursePanels(r)
	if len(panels) != 6 {
		t.Fatalf("%d panels, want two of the sides", len(panels))
	}
	for _, p := range panels[4:] {
		for _, trace := range (run{record: r}).traces(p) {
			if !math.IsNaN(trace.marks[0].y) || trace.marks[1].y != 0 {
				t.Errorf("%s: %v at first and %v then, want a gap and 0", p.Title, trace.marks[0].y, trace.marks[1].y)
			}
		}
	}
}
