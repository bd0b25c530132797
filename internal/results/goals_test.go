package results

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

func found(goals ...store.GoalResult) store.Record {
	return store.Record{Status: store.OK, Result: &store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: goals[0].Low, High: goals[0].High, Goals: goals}}}
}

var strict = store.GoalResult{LatencyNs: 10e6, Quantile: 0.999}

func TestGoalsAreSummedUpOverRepetitionsEachByItself(t *testing.T) {
	open, none := strict, strict
	open.Low, open.Conditional, open.Undecided = 90, 85, "stopped after 30 trials"
	none.High, none.Undecided = 50, "no rate passed"
	records := []store.Record{
		found(store.GoalResult{Low: 100, High: 105, Conditional: 99}, open),
		found(store.GoalResult{Low: 110, High: 115, Conditional: 109}, none),
		{Status: store.OK, Result: &store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 1}}}, // of before there were goals
		{Status: store.Refused},
	}
	goals := Goals(records)
	if len(goals) != 2 {
		t.Fatalf("%d goals, want 2: %+v", len(goals), goals)
	}
	free, bound := goals[0], goals[1]
	if free.Name != "no latency bound" || free.Sustained.N != 2 || free.Sustained.Median != 105 || free.Sustained.Low != 100 || free.Sustained.High != 115 ||
		free.Conditional.Median != 104 || free.Answer() != "decided" {
		t.Errorf("without a bound: %+v", free)
	}
	if bound.Name != "p99.9 ≤ 10ms" || bound.Sustained.Low != 0 || !math.IsInf(bound.Sustained.High, 1) || bound.Conditional.N != 1 || bound.Conditional.Median != 85 ||
		bound.Answer() != "undecided" || len(bound.Undecided) != 2 {
		t.Errorf("with a bound: %+v", bound)
	}
	if got := Goals([]store.Record{found(strict), found(open)})[0].Answer(); got != "undecided in 1 of 2" {
		t.Errorf("one of two open: %q", got)
	}
	if got := Goals(records[2:]); got != nil {
		t.Errorf("records without a search have goals: %+v", got)
	}
}

func TestAFlatRecordHoldsTheAnswerToEveryGoal(t *testing.T) {
	open := strict
	open.High, open.Undecided = 50, "no rate passed"
	goals := Flat(found(store.GoalResult{Low: 100, HeldNs: 20e9, Conditional: 99}, open))[0].Value("goals").([]FlatGoal)
	got, err := json.Marshal(goals)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"goal":"no latency bound","latency_ns":null,"quantile":null,"sustainable_low":100,"sustainable_high":null,"sustainable_held_s":20,"conditional_throughput":99,"undecided":""},` +
		`{"goal":"p99.9 ≤ 10ms","latency_ns":10000000,"quantile":0.999,"sustainable_low":0,"sustainable_high":50,"sustainable_held_s":0,"conditional_throughput":null,"undecided":"no rate passed"}]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, want := range []string{
		"no latency bound: at least 100/s, held 20s, no rate failed, conditional throughput 99/s",
		"p99.9 ≤ 10ms: no rate passed, the lowest that failed was 50/s; undecided: no rate passed",
	} {
		if got := goals[i].String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A search whose every trial was void has found nothing, which is not a rate of 0.
func TestNothingFoundIsUnknown(t *testing.T) {
	r := measured()
	r.Status, r.Result = store.Void, &store.Result{Sustainable: &store.Sustainable{Goals: []store.GoalResult{{Undecided: "no rate passed"}}}}
	for _, key := range []string{"publish_rate", "receive_rate", "producer_rate", "consumer_rate", "publish_mb_s", "sustainable_low"} {
		if v := MustMetric(key).Of(r); !math.IsNaN(v) {
			t.Errorf("%s is %v", key, v)
		}
	}
	records := []store.Record{r}
	if cell := Sustained(records).Cell(); cell.Kind != document.Blank {
		t.Errorf("sustainable: %+v", cell)
	}
	if g := Goals(records)[0]; g.Sustained.Cell().Kind != document.Blank || g.Answer() != "undecided" || g.N != 1 {
		t.Errorf("goal %+v, %s", g, g.Answer())
	}
	r.Result.Sustainable.High = 500 // the lowest rate failed
	if v := MustMetric("sustainable_low").Of(r); v != 0 {
		t.Errorf("no rate passed: %v", v)
	}
}

func TestBoundsOfASearchAreToldByWhatIsKnownOfThem(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 0, "no rate was found"},
		{0, 900, "no rate passed, the lowest that failed was 900/s"},
		{900, 950, "900–950/s, held 20s"},
		{900, 0, "at least 900/s, held 20s, no rate failed"},
	} {
		if got := BoundsText(c.low, c.high, 20e9); got != c.want {
			t.Errorf("%g to %g: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}
