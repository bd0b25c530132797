package lab_test

import (
	"fmt"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/redis"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// The same broker with the same settings under two names, three repetitions each, as a comparison of two runs it: at most 5 % of the pairs
// may be told apart by a metric, and chance may add to that what it adds in one of a hundred such tests.

func TestOneSimulatedBrokerUnderTwoNamesIsNotToldApart(t *testing.T) {
	testkit.Long(t)
	toldApart(t, simSpec(func(s *study.Spec) { setRate(s, 20_000, 100*time.Millisecond) }), 200, 18, lab.Options{})
}

func TestOneBrokerUnderTwoNamesIsNotToldApart(t *testing.T) {
	testkit.Long(t)
	testkit.Live(t)
	for broker, delivery := range map[string]string{"nats": "at-most-once", "redis": "at-least-once"} {
		t.Run(broker, func(t *testing.T) {
			s := simSpec(func(s *study.Spec) {
				s.Broker, s.Delivery, s.Isolation = broker, delivery, "shared"
				if delivery == "at-most-once" {
					s.Acks = "none"
				}
				setRate(s, 2000, time.Second)
			})
			toldApart(t, s, 20, 4, lab.Options{Host: newHost(t)})
		})
	}
}

func pointID(name string, pair int) string { return fmt.Sprintf("%s-%010d", name, pair) }

// toldApart runs pairs of points that differ in their names only, and counts those that a metric tells apart.
func toldApart(t *testing.T, s study.Spec, pairs, most int, o lab.Options) {
	t.Helper()
	named := func(name string, pair int) study.Point {
		return study.Point{ID: pointID(name, pair), Study: "test", Label: name, Spec: s}
	}
	ok := map[string][]store.Record{} // by point ID
	for pair := range pairs {
		o.Store, o.Log = openStore(t), testLog{t} // each is a run of its own
		points := []study.Point{named("a", pair), named("b", pair)}
		if _, err := lab.Run(t.Context(), study.Order(points, 3, int64(pair), lab.SharedBroker), o); err != nil {
			t.Fatal(err)
		}
		for _, r := range readRecords(t, o.Store) {
			if r.Status == store.OK {
				ok[r.PointID] = append(ok[r.PointID], r)
			}
		}
	}
	for _, key := range []string{results.KeyThroughput, results.KeyEndToEndP50, results.KeyEndToEndP99, results.KeyPublishP99, results.KeyGeneratorCPU} {
		answers := map[results.Answer]int{}
		for pair := range pairs {
			d := results.DifferenceOf(results.MustMetric(key), ok[pointID("a", pair)], ok[pointID("b", pair)])
			answers[d.Answer]++
			if d.Answer == results.Differs {
				t.Logf("%s of pair %d: %s, %s", key, pair, d.Change(), d.Why())
			}
		}
		t.Logf("%s of %d pairs: %v", key, pairs, answers)
		if answers[results.Differs] > most {
			t.Errorf("%s: %d of %d pairs are told apart, at most %d may be", key, answers[results.Differs], pairs, most)
		}
	}
	if len(ok) < 2*pairs*9/10 {
		t.Errorf("%d of %d points have a repetition that ended ok", len(ok), 2*pairs)
	}
}
