package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Of two points one is faster and the other one cheaper; the others are worse than both.
func TestWhatNoOtherPointBeatsIsListedWithoutWhatOneBeats(t *testing.T) {
	var records []store.Record
	for i, p := range []struct{ rate, cpuSeconds float64 }{{4000, 8}, {3000, 2}, {2000, 9}, {1000, 9}} {
		linger := fmt.Sprint(i)
		records = append(records, store.Record{
			PointID: linger, Status: store.OK, Axes: map[string]string{"client.linger": linger},
			Spec: study.Spec{Broker: "kafka", Measure: "peak", MessageSize: study.Sizes{{Size: 100, Weight: 1}}, Client: map[string]any{"linger": linger}},
			Result: &store.Result{Measurement: store.Measurement{
				PublishRate: p.rate, Cost: store.Cost{BrokerKnown: true, BrokerUserSeconds: p.cpuSeconds, Messages: 1_000_000},
			}},
		})
	}
	d := build(t, "recommend", records)
	for _, table := range d.Tables() {
		if strings.HasPrefix(table.Title, "What no other point beats") {
			var lingers []string
			for _, row := range table.Rows {
				lingers = append(lingers, row["axis:client.linger"].Text)
			}
			if !slices.Equal(lingers, []string{"0", "1"}) {
				t.Errorf("linger %q, want those of the fastest and of the cheapest", lingers)
			}
			return
		}
	}
	t.Errorf("no such table in %v", d.Tables())
}

func TestTheBestIsComparedWithTheMedianOfAllAlsoOfAnEvenNumber(t *testing.T) {
	var records []store.Record
	for i, rate := range []float64{4000, 3000, 1000, 500} {
		records = append(records, store.Record{
			PointID: fmt.Sprint(i), Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak"},
			Result: &store.Result{Measurement: store.Measurement{PublishRate: rate}},
		})
	}
	points := results.Of(records).Points
	s := sweep{metric: results.MustMetric(results.KeyPublishRate), points: points, ranked: points}
	if got := s.verdict().Finding; !strings.Contains(got, "4k/s, 2.00× the median of all.") {
		t.Errorf("got %q", got)
	}
}

// The median of all is not that of the few that keep their objectives.
func TestTheBestIsComparedAlsoWithThoseThatMissAnObjective(t *testing.T) {
	var records []store.Record
	for i, rate := range []float64{4000, 3000, 2500, 1000, 500} {
		records = append(records, store.Record{
			PointID: fmt.Sprint(i), Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak", Objectives: study.Objectives{"publish_rate": ">= 2000/s"}},
			Result: &store.Result{Measurement: store.Measurement{PublishRate: rate, ReceiveRate: rate}},
		})
	}
	points := results.Of(records).Points
	axes, places := results.SweptAxes(points)
	s := newSweep(points, results.MustMetric(results.KeyPublishRate), axes, places)
	v := s.verdict()
	if !strings.Contains(v.Finding, "4k/s, 1.60× the median of all.") || !strings.Contains(v.Detail, "Not considered: 2 that miss an objective.") {
		t.Errorf("got %+v", v)
	}
}

// Points through relays have a table of their own, but are points of one sweep with the others.
func TestASweepOverSeveralTablesReplacesTheRankingOfEach(t *testing.T) {
	var records []store.Record
	for i, r := range tuned("kafka") {
		r.Spec.Relays = i % 2
		r.Axes["relays"] = fmt.Sprint(r.Spec.Relays)
		records = append(records, r)
	}
	points := results.Of(records).Points
	if sweeps := sweepsOf(points); len(sweeps) != 1 || len(sweeps[0].points) != len(points) {
		t.Fatalf("%d sweeps, want one of all %d points", len(sweeps), len(points))
	}
	text := strings.Join(strings.Fields(string(rendered(t, build(t, "verdicts", records), "terminal", 200))), " ")
	if strings.Contains(text, "Lowest e2e p99") || strings.Contains(text, ", then kafka") {
		t.Errorf("kafka is ranked against itself:\n%s", text)
	}
}

// What is not known to be behind may be as good. A point of which most repetitions were void scatters as the others do.
func TestARivalThatIsNotTestedIsNotPassedOverAsBehind(t *testing.T) {
	verdict := func(repetitions []int, rates []float64) string {
		var records []store.Record
		for i, rate := range rates {
			for n := range repetitions[i] {
				records = append(records, store.Record{
					PointID: fmt.Sprint(i), Repetition: n + 1, Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak"},
					Result: &store.Result{Measurement: store.Measurement{PublishRate: rate + float64(n)}},
				})
			}
		}
		points := results.Of(records).Points
		s := sweep{metric: results.MustMetric(results.KeyPublishRate), points: points, ranked: points}
		return s.closeRivals()
	}
	for _, c := range []struct {
		repetitions []int
		rates       []float64
		want        string
	}{
		{[]int{9, 9, 9, 9}, []float64{4000, 4000, 2000, 1000}, "Of the next best 3, 1 may be as good."},
		{[]int{9, 9, 9, 1}, []float64{4000, 4000, 2000, 1000}, "Of the next best 3, 1 may be as good."},
		{[]int{9, 9, 1, 1}, []float64{4000, 3000, 2000, 1000}, ""},
		{[]int{9, 9, 9, 9}, []float64{4000, 3000, 2000, 1000}, ""},
		{[]int{1, 1, 1, 1}, []float64{4000, 3000, 2000, 1000}, "Of the next best 3, 3 may be as good."},
	} {
		if got := verdict(c.repetitions, c.rates); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.repetitions, c.rates, got, c.want)
		}
	}
}

func TestNothingIsTheBestWhereNoRatePassed(t *testing.T) {
	var records []store.Record
	for i := range 4 {
		records = append(records, store.Record{
			PointID: fmt.Sprint(i), Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: study.MeasureSustainable},
			Result: &store.Result{Sustainable: &store.Sustainable{Low: 0, High: 5000}},
		})
	}
	points := results.Of(records).Points
	s := sweep{metric: results.MustMetric(results.KeySustainableLow), points: points, ranked: points}
	if got, want := s.verdict().Finding, "None of the 4 points that were measured has a sustainable above 0/s."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	records[3].Result.Sustainable.Low = 4000 // which misses an objective
	points = results.Of(records).Points
	s.ranked, s.missed = points[:3], points[3:]
	if got := s.verdict().Finding; strings.Contains(got, "None of") {
		t.Errorf("4k/s passed, but %q", got)
	}
}

// Each axis is compared over the combinations of all others: a stranger's records must not have many.
func TestASweepOfVeryManyAxesIsNone(t *testing.T) {
	for axes, want := range map[int]int{maxSweepAxes: 1, maxSweepAxes + 1: 0} {
		var records []store.Record
		for i := range minSweepPoints {
			record := store.Record{
				PointID: fmt.Sprint(i), Status: store.OK, Axes: map[string]string{}, Spec: study.Spec{Broker: "kafka", Measure: "peak"},
				Result: &store.Result{Measurement: store.Measurement{PublishRate: float64(i + 1)}},
			}
			for k := range axes {
				record.Axes[fmt.Sprintf("a%d", k)] = fmt.Sprint(i)
			}
			records = append(records, record)
		}
		if n := len(sweepsOf(results.Of(records).Points)); n != want {
			t.Errorf("%d sweeps of %d axes, want %d", n, axes, want)
		}
	}
}
