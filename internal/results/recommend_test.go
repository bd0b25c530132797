package results

import (
	"fmt"
	"math"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/usual"
)

// factorial is a full factorial of two axes whose effects are known: batch doubles the rate, linger makes it 1.5 times, and
// they don't depend on each other.
func factorial() []Point {
	var records []store.Record
	for _, batch := range []int{16, 64} {
		for _, linger := range []int{0, 5, 10} {
			for n := range 3 {
				r := store.Record{
					PointID: fmt.Sprint(batch, "-", linger), Repetition: n + 1, Status: store.OK,
					Axes: map[string]string{"client.batch": fmt.Sprint(batch), "client.linger": fmt.Sprint(linger), "client.fixed": "x"},
					Spec: study.Spec{Broker: "sim", Measure: "sustainable", MessageSize: study.Sizes{{Size: 100, Weight: 1}}},
				}
				rate := 1000 * float64(batch) / 16 * map[int]float64{0: 1, 5: 1.5, 10: 0.9}[linger] * (1 + float64(n-1)/100)
				r.Result = &store.Result{Sustainable: &store.Sustainable{HeldNs: 20e9, Low: rate, High: rate * 1.05}}
				r.Result.Latency.EndToEnd = latencies(1000, int64(1000*(1+linger)))
				r.Result.Cost = store.Cost{BrokerKnown: true, Messages: 1_000_000, BrokerUserSeconds: 10 - float64(linger)/10}
				records = append(records, r)
			}
		}
	}
	return Of(records).Points
}

func TestTheEffectOfAnAxisIsThatOverAllCombinationsOfTheOthers(t *testing.T) {
	points := factorial()
	effects := Effects(points, MustMetric("sustainable_low"))
	if len(effects) != 2 || effects[0].Axis != "client.batch" || effects[1].Axis != "client.linger" {
		t.Fatalf("effects of %+v, want batch before linger", effects)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	v := effects[0].Largest()
	if c := effects[0].Changes[v]; effects[0].Values[v] != "64" || c.N != 3 || !near(c.Median, 4) {
		t.Errorf("batch: value %s changes %+v, want 64, 4 times over 3 combinations", effects[0].Values[v], c)
	}
	if c := effects[1].Changes; !near(c[1].Median, 1.5) || !near(c[2].Median, 0.9) || c[1].N != 2 {
		t.Errorf("linger: %+v, want 1.5 and 0.9 times over 2 combinations", c)
	}
	best := Best(points, MustMetric("sustainable_low"))
	if len(best) != 6 || best[0].ID != "64-5" || best[5].ID != "16-10" {
		t.Errorf("the best is %s, the worst %s", best[0].ID, best[len(best)-1].ID)
	}
}

// Compared with the default, an axis says what changing a setting brings; compared with the first by name it says that of giving the default up.
func TestAnAxisIsComparedWithTheDefault(t *testing.T) {
	usual.Register("tuned", usual.Defaults{Settings: map[string]string{"client.compression.type": "none", "client.batch.size": "16384"}})
	points := []Point{{Spec: study.Spec{Broker: "tuned"}}, {Spec: study.Spec{Broker: "tuned"}}}
	for want, axis := range []Axis{
		{Name: "client.compression.type", Values: []string{"none", "zstd"}},
		{Name: "client.compression.type", Values: []string{"lz4", "none"}},
		{Name: "client.batch.size", Values: []string{"4KiB", "8KiB", "16KiB"}},
		{Name: "partitionsPerTopic", Values: []string{"8", "4", "2", "1"}},
	} {
		if got := usualIn(axis, points); got != want {
			t.Errorf("%v: %d, want %d", axis, got, want)
		}
	}
	if got := usualIn(Axis{Name: "client.compression.type", Values: []string{"lz4", "zstd"}}, points); got != 0 {
		t.Errorf("without the default: %d", got)
	}
	e := effectOf(0, Axis{Name: "x", Values: []string{"a", "b"}}, 1, []Place{{0}, {1}}, []float64{50, 100})
	if e.Changes[0].Median != 0.5 || e.Changes[1].N != 0 || e.Usual != 1 {
		t.Errorf("%+v", e)
	}
}

// Half as much in one combination and twice as much in another is no change, whichever value comes first.
func TestOppositeEffectsCancelOut(t *testing.T) {
	axis := Axis{Name: "linger", Values: []string{"0", "5"}}
	places := []Place{{0, 0}, {1, 0}, {0, 1}, {1, 1}}
	e := effectOf(0, axis, 0, places, []float64{100, 50, 100, 200})
	if c := e.Changes[1]; c.Median != 1 || c.Low != 0.5 || c.High != 2 || c.N != 2 {
		t.Errorf("factors of 1/2 and 2 are a change of %+v", c)
	}
}

func TestAParetoSetHoldsWhatNoOtherPointBeats(t *testing.T) {
	points := factorial()
	var ids []string
	for _, p := range Pareto(points, Tradeoff("sustainable")) {
		ids = append(ids, p.ID)
	}
	// 64-0 has the lowest latency of the fast ones, 64-5 the highest rate, 64-10 the lowest cost; 16-x are as costly and slower.
	if want := "[64-0 64-10 64-5]"; fmt.Sprint(sorted(ids)) != want {
		t.Errorf("no other beats %v, want %s", ids, want)
	}
	unmetered := factorial()
	for i := range unmetered {
		for k := range unmetered[i].Records {
			unmetered[i].Records[k].Result.Cost.BrokerKnown = false
		}
	}
	if got := Pareto(unmetered, Tradeoff("sustainable")); len(got) != 2 {
		t.Errorf("without a known cost %d points are left, want those of rate and latency", len(got))
	}
}

func sorted(ids []string) []string {
	m := map[string]bool{}
	for _, id := range ids {
		m[id] = true
	}
	return sortedKeys(m)
}
