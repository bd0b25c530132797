package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// atRate are the repetitions of one broker at 1,000/s.
func atRate(broker string, repeats int) []store.Record {
	var records []store.Record
	for _, r := range demo(repeats) {
		if r.Spec.Broker == broker && r.Spec.Delivery == "at-least-once" && r.Spec.Load.Rate == 1000 && r.Spec.MessageSize[0].Size == 100 && r.Status == store.OK {
			records = append(records, r)
		}
	}
	return records
}

// altered are copies of records as another point, with everything about their results to be changed by a function.
func altered(records []store.Record, point string, change func(*store.Record)) []store.Record {
	var out []store.Record
	for _, r := range records {
		result := *r.Result
		r.Result, r.PointID, r.Axes = &result, r.PointID+point, maps.Clone(r.Axes)
		change(&r)
		out = append(out, r)
	}
	return out
}

func cellsOf(t *testing.T, table document.Table, key string) map[string]document.Cell {
	t.Helper()
	if !slices.ContainsFunc(table.Columns, func(c document.Column) bool { return c.Key == key }) {
		t.Fatalf("no column %s", key)
	}
	cells := map[string]document.Cell{}
	for _, row := range table.Rows {
		cells[row["broker"].Text] = row[key]
	}
	return cells
}

func TestAHeadToHeadNeverPoolsConstantAndPoissonArrivals(t *testing.T) {
	constant := atRate("kafka", 3)
	poisson := altered(constant, "-poisson", func(r *store.Record) {
		r.Spec.Load.Shape = "poisson"
		r.Result.Latency = products[1].result(100, 1000, r.Repetition).Latency
		r.Result.Cost.GeneratorUserSeconds *= 7
	})
	alone := cellsOf(t, build(t, "headtohead", constant).Tables()[0], "e2e_p99_ns_at_1000")["kafka"]
	table := build(t, "headtohead", append(constant, poisson...)).Tables()[0]
	p99, n := cellsOf(t, table, "e2e_p99_ns_at_1000"), cellsOf(t, table, "n")
	if len(p99) != 2 || p99["kafka"].Number != alone.Number || p99["kafka"].Low != alone.Low || p99["kafka poisson"].Number == alone.Number {
		t.Errorf("p99 %+v, alone %+v", p99, alone)
	}
	if n["kafka"].Number != 3 || n["kafka poisson"].Number != 3 {
		t.Errorf("n %+v", n)
	}
	costs := cellsOf(t, table, "generator_cpu_s_per_million")
	if a, b := costs["kafka"].Number, costs["kafka poisson"].Number; b < 6*a {
		t.Errorf("costs %v and %v were pooled", a, b)
	}
}

func TestShapesOfLoadAreNeverRankedAgainstEachOther(t *testing.T) {
	for _, axis := range []string{"load.shape", "persistence"} {
		var records []store.Record
		for _, broker := range []string{"kafka", "jetstream"} {
			for _, shape := range []string{"constant", "poisson"} {
				records = append(records, altered(atRate(broker, 4), shape, func(r *store.Record) {
					r.Axes[axis] = shape
					r.Spec.Load.Shape = shape
				})...)
			}
		}
		text := textOf(rankingVerdicts("100 B", results.Of(records).Points))
		if axis == "load.shape" && (strings.Count(text, "lowest e2e p99") != 2 || strings.Contains(text, "over 6 pairs")) {
			t.Errorf("by %s: %s", axis, text)
		}
		for _, want := range []string{"At rate 1k/s, ", "At rate 1k/s poisson, "} {
			if !strings.Contains(text, want) {
				t.Errorf("by %s the verdict doesn't say %q: %s", axis, want, text)
			}
		}
	}
}

func TestAComparisonNeverPoolsLoads(t *testing.T) {
	side := func(broker string, shapes ...study.Load) Side {
		var records []store.Record
		for i, l := range shapes {
			records = append(records, altered(atRate(broker, 2), fmt.Sprint(i), func(r *store.Record) { r.Spec.Load = l })...)
		}
		return Side{broker, results.Of(records)}
	}
	steps := func(rate float64) study.Load {
		return study.Load{Shape: "steps", Steps: []study.Step{{Rate: rate, For: study.Duration(time.Second)}}}
	}
	constant, poisson := study.Load{Shape: "constant", Rate: 1000}, study.Load{Shape: "poisson", Rate: 1000}
	for _, c := range []struct {
		name   string
		a, b   Side
		named  []string
		titles string
	}{
		{
			"equal loads", side("kafka", constant, poisson), side("jetstream", constant, poisson),
			[]string{"broker"},
			"100 B, at-least-once, rate 1k/s|100 B, at-least-once, rate 1k/s poisson",
		},
		{"steps of one name", side("kafka", steps(5)), side("jetstream", steps(6)), []string{"broker"}, ""},
		{"steps of one name, otherwise not the same work", side("kafka", steps(5)), side("jetstream", steps(6)), nil, ""},
		{"the shape is compared", side("kafka", constant), side("kafka", poisson), []string{"load.shape"}, "kafka, 100 B, at-least-once, rate 1k/s against rate 1k/s poisson"},
		{
			"one side has two", side("kafka", constant), side("jetstream", constant, poisson),
			[]string{"broker", "load.shape"},
			"100 B, at-least-once, rate 1k/s|100 B, at-least-once, rate 1k/s against rate 1k/s poisson",
		},
	} {
		var titles []string
		for _, p := range Pairs(c.a, c.b, c.named...) {
			if p.OnlySide() != "" {
				continue
			}
			titles = append(titles, p.Title)
			if len(p.A) != 1 || len(p.B) != 1 {
				t.Errorf("%s: %d and %d points are one", c.name, len(p.A), len(p.B))
			}
		}
		if got := strings.Join(titles, "|"); got != c.titles {
			t.Errorf("%s: pairs %q, want %q", c.name, got, c.titles)
		}
	}
	unmatched := match(side("kafka", constant, steps(5)), side("jetstream", constant, poisson), []string{"broker"}).unmatched
	if len(unmatched) != 2 {
		t.Errorf("%d workloads of one side only, want 2", len(unmatched))
	}
}

func TestTheCostsOfARowAreOfOneLoad(t *testing.T) {
	rates := atRate("kafka", 3)
	dearer := func(measure string, load, factor float64) []store.Record {
		return altered(rates, fmt.Sprint(measure, load), func(r *store.Record) {
			r.Spec.Measure, r.Spec.Load.Rate = measure, load
			r.Result.Cost.GeneratorUserSeconds *= factor
			if measure == "sustainable" || measure == "curve" { // a curve at fractions of what a search found
				r.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: 1000, High: 1100}
			}
		})
	}
	for _, c := range []struct {
		name    string
		records []store.Record
		want    float64 // as a factor of what a rate costs
	}{
		{"a rate", rates, 1},
		{"two rates: the highest", append(dearer("rate", 5000, 3), rates...), 3},
		{"a peak beside rates", append(dearer("peak", 0, 5), rates...), 5},
		{"counts at two rates", append(dearer("count", 100, 2), dearer("count", 200, 4)...), 4},
		{"a peak before a count", append(dearer("count", 100, 2), dearer("peak", 0, 4)...), 4},
		{"a count before a backlog", append(dearer("backlog", 0, 2), dearer("count", 7, 4)...), 4},
		{"a search before a curve and a peak", slices.Concat(dearer("curve", 0, 2), dearer("sustainable", 0, 4), dearer("peak", 0, 9)), 4},
		{"a curve before a peak", append(dearer("peak", 0, 2), dearer("curve", 0, 4)...), 4},
	} {
		table := build(t, "headtohead", c.records).Tables()[0]
		got := cellsOf(t, table, "generator_cpu_s_per_million")["kafka"]
		want := c.want * 0.61
		if got.Number < want*0.999 || got.Number > want*1.001 || got.Low < want*0.9 || got.High > want*1.1 {
			t.Errorf("%s: %+v, want %v", c.name, got, want)
		}
	}
}

func TestAPointAtARateComesBeforeACurveThroughIt(t *testing.T) {
	rates := atRate("kafka", 3)
	curve := altered(rates, "curve", func(r *store.Record) {
		r.Spec.Measure = "curve"
		slower := products[1].result(100, 1000, r.Repetition)
		r.Result.Curve = []store.CurvePoint{
			{Rate: 1000, Status: store.OK, Measurement: slower.Measurement},
			{Rate: 2000, Status: store.OK, Measurement: slower.Measurement},
			{Rate: 3000, Status: store.Void, Measurement: slower.Measurement},
			{Rate: 4000, Fraction: 0.5, Status: store.OK, Measurement: slower.Measurement},
		}
	})
	alone := cellsOf(t, build(t, "headtohead", rates).Tables()[0], "e2e_p99_ns_at_1000")["kafka"]
	table := build(t, "headtohead", append(rates, curve...)).Tables()[0]
	if got := cellsOf(t, table, "e2e_p99_ns_at_1000")["kafka"]; got.Number != alone.Number {
		t.Errorf("p99 %v, of the point at that rate it is %v", got.Number, alone.Number)
	}
	if got := cellsOf(t, table, "e2e_p50_ns_at_2000")["kafka"]; got.Kind == document.Blank {
		t.Error("the curve has no figure at its other rate")
	}
	for _, c := range table.Columns {
		if strings.HasSuffix(c.Key, "3000") || strings.HasSuffix(c.Key, "4000") {
			t.Errorf("there is a column %s", c.Key)
		}
	}
}

func TestTrialsAreOrderedByNumberNotByDigits(t *testing.T) {
	var records []store.Record
	for _, replicas := range []int{10, 3, 1} {
		for _, repetition := range []int{10, 9} {
			r := demo(1)[0]
			r.Spec.Replicas, r.Repetition, r.PointID = replicas, repetition, fmt.Sprint(replicas)
			r.Spec.Faults = []study.Fault{{Do: "kill"}}
			records = append(records, r)
		}
	}
	trials := faultTrials(results.Of(records).Points)
	var got []string
	for _, o := range trials {
		got = append(got, fmt.Sprintf("%d/%d", o.record.Spec.Replicas, o.record.Repetition))
	}
	if want := "1/9 1/10 3/9 3/10 10/9 10/10"; strings.Join(got, " ") != want {
		t.Errorf("order %q, want %s", got, want)
	}
}
