package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// loads differ from each other in one thing only; a reader would call many of them "1k/s".
var loads = []study.Load{
	{Shape: "constant", Rate: 1000},
	{Shape: "constant", Rate: 1001},
	{Shape: "poisson", Rate: 1000},
	{Shape: "poisson", Rate: 2000},
	{Shape: "ramp", Rate: 1000, To: 2000},
	{Shape: "ramp", Rate: 1000, To: 3000},
	{Shape: "steps", Steps: []study.Step{{Rate: 1000, For: study.Duration(time.Second)}}},
	{Shape: "steps", Steps: []study.Step{{Rate: 1000, For: study.Duration(time.Minute)}}},
	{Shape: "bursts", Rate: 1000, Burst: &study.Burst{Rate: 9000, Every: study.Duration(time.Minute), For: study.Duration(time.Second)}},
	{Shape: "bursts", Rate: 1000, Burst: &study.Burst{Rate: 9001, Every: study.Duration(time.Minute), For: study.Duration(time.Second)}},
}

func TestDifferentLoadsAreNeverTakenForEachOther(t *testing.T) {
	var records []store.Record
	ids := map[string]int{}
	for i, l := range loads {
		r := measured()
		r.PointID, r.Spec.Measure, r.Spec.Load = fmt.Sprint(i), "rate", l
		records = append(records, r)
		id := LoadID(r.Spec)
		if other, ok := ids[id]; ok {
			t.Errorf("loads %d and %d have the identity %s", i, other, id)
		}
		ids[id] = i
	}
	// Everything that is called the same stands in the same row, line or panel.
	rows := map[string][]string{}
	for _, p := range pointsOf(records) {
		rows[p.Name] = append(rows[p.Name], p.Spec.Load.Shape)
		if p.Spec.Load.Shape == "constant" && p.Name != "kafka" {
			t.Errorf("a constant rate is named %q", p.Name)
		}
	}
	for name, shapes := range rows {
		if len(slices.Compact(shapes)) > 1 {
			t.Errorf("%q has the shapes %q", name, shapes)
		}
	}
	if len(rows) != 8 || len(rows["kafka"]) != 2 || len(rows["kafka poisson"]) != 2 {
		t.Errorf("rows %q", rows)
	}
	one, other := measured().Spec, measured().Spec
	if one.Seed = 7; LoadID(one) != LoadID(other) {
		t.Errorf("%s isn't %s", LoadID(one), LoadID(other))
	}
}

func TestLoadsOfOtherMeasuresHaveTheirOwnIdentity(t *testing.T) {
	specs := []study.Spec{
		{Measure: "peak"},
		{Measure: "sustainable"},
		{Measure: "curve", Curve: study.Curve{Rates: []float64{10}}},
		{Measure: "curve", Curve: study.Curve{Rates: []float64{10, 20}}},
		{Measure: "count", Count: study.Count{Messages: 5}},
		{Measure: "count", Count: study.Count{Messages: 6}},
		{Measure: "backlog", Backlog: study.Backlog{Messages: 5}},
		{Measure: "backlog", Backlog: study.Backlog{Messages: 6}},
	}
	ids := map[string]bool{}
	for _, s := range specs {
		ids[LoadID(s)] = true
	}
	if len(ids) != len(specs) {
		t.Errorf("%d of %d are told apart", len(ids), len(specs))
	}
	// What another measure would do doesn't count.
	if a, b := (study.Spec{Measure: "peak", Count: study.Count{Messages: 5}}), (study.Spec{Measure: "peak"}); LoadID(a) != LoadID(b) {
		t.Error("a peak depends on a count")
	}
}

func TestAShapeThatAnAxisNamesIsNamedOnce(t *testing.T) {
	var records []store.Record
	for _, shape := range []string{"constant", "poisson"} {
		r := measured()
		r.PointID, r.Spec.Measure, r.Spec.Load = shape, "rate", study.Load{Shape: shape, Rate: 5}
		r.Axes = map[string]string{"load.shape": shape}
		records = append(records, r)
	}
	var names []string
	for _, p := range pointsOf(records) {
		names = append(names, p.Name)
	}
	if want := []string{"kafka load.shape=constant", "kafka load.shape=poisson"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

func TestRatesThatDifferHaveDifferentNames(t *testing.T) {
	for rate, want := range map[float64]string{
		1000: "1k/s", 1230: "1.23k/s", 1234: "1234/s", 10_001: "10001/s", 1.5e6: "1.50M/s", 0.5: "0.500/s", 0.1234: "0.1234/s", 1234567.25: "1234567.25/s",
	} {
		if got := RateText(rate); got != want {
			t.Errorf("%v is named %q, want %q", rate, got, want)
		}
	}
	for fraction, want := range map[float64]string{0.5: "curve 50.0 %", 0.333: "curve 33.3 %", 0.3335: "curve 33.35 %"} {
		if got := CurveLoad(store.CurvePoint{Fraction: fraction, Rate: 7}); got != want {
			t.Errorf("%v is named %q, want %q", fraction, got, want)
		}
	}
	if got := CurveLoad(store.CurvePoint{Rate: 10_001}); got != "curve 10001/s" {
		t.Errorf("a rate is named %q", got)
	}
}

func TestNearRatesOfACurveAreLevelsOfTheirOwn(t *testing.T) {
	r := measured()
	r.Spec.Measure, r.Result.Sustainable = "curve", nil
	for _, rate := range []float64{10_001, 10_004} {
		r.Result.Curve = append(r.Result.Curve, store.CurvePoint{Rate: rate, Status: store.OK, Measurement: r.Result.Measurement})
	}
	second := r
	second.Repetition = 2
	points := pointsOf([]store.Record{r, second})
	if loadPoints := points[0].LoadPoints(); len(loadPoints) != 2 || len(loadPoints[0].Records) != 2 || loadPoints[0].Rate != 10_001 || loadPoints[1].Rate != 10_004 {
		t.Errorf("levels %+v", loadPoints)
	}
	if all := Distributions(points, LatencyKinds[0]); len(all) != 2 || all[0].N != 2 || !strings.Contains(all[1].RowTitle, "10004") {
		t.Errorf("%d distributions", len(all))
	}
}

func TestALoadThatChangesIsNamedByAllItsRates(t *testing.T) {
	steps := func(rates ...float64) (list []study.Step) {
		for _, r := range rates {
			list = append(list, study.Step{Rate: r})
		}
		return list
	}
	for want, load := range map[string]study.Load{
		"rate 1k/s":                               {Shape: "constant", Rate: 1000},
		"rate 1k/s poisson":                       {Shape: "poisson", Rate: 1000},
		"rate 50/s to 500/s ramp":                 {Shape: "ramp", Rate: 50, To: 500},
		"rate 500/s to 0/s ramp":                  {Shape: "ramp", Rate: 500},
		"rate 100/s, 0/s, 500/s steps":            {Shape: "steps", Steps: steps(100, 0, 500)},
		"rate 100/s, 200/s, 300/s, … 600/s steps": {Shape: "steps", Steps: steps(100, 200, 300, 400, 500, 600)},
		"rate 1k/s to 0/s, 5/s repeated steps":    {Shape: "steps", Repeat: true, Steps: []study.Step{{Rate: 1000, To: new(float64)}, {Rate: 5}}},
		"rate 50/s bursts":                        {Shape: "bursts", Rate: 50, Burst: &study.Burst{Rate: 500}},
	} {
		p := Point{Spec: study.Spec{Measure: study.MeasureRate, Load: load}}
		if got := p.Load(); got != want {
			t.Errorf("%+v is %q, want %q", load, got, want)
		}
	}
}

func TestLoadsThatHaveNoJSONAreNotPooled(t *testing.T) {
	rate := study.Spec{Measure: study.MeasureRate, Load: study.Load{Rate: math.NaN()}}
	peak := study.Spec{Measure: study.MeasurePeak, Load: study.Load{Rate: math.NaN()}}
	if LoadID(rate) == LoadID(peak) {
		t.Errorf("a rate and a peak are one load: %s", LoadID(rate))
	}
}
