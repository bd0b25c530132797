package lab_test

import (
	"fmt"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/jetstream"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// What is measured on a broker is not burdened by others that wait for their next point, and repetitions are of instances of their own.
func TestARepetitionHasASharedBrokerOfItsOwnAndNoOtherIsUp(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	h, db := newHost(t), openStore(t)
	var points []study.Point
	for _, limit := range []int{1 << 20, 2 << 20} { // two servers
		for _, topics := range []int{1, 2} {
			s := natsSpec(func(s *study.Spec) {
				s.Isolation, s.Topics, s.Server = "shared", topics, map[string]any{"max_payload": limit}
				s.Measure, s.Count, s.Load = "count", study.Count{Messages: 50}, study.Load{Shape: "constant"}
			})
			points = append(points, study.Point{ID: s.ID(), Study: "test", Label: fmt.Sprint(limit, topics), Spec: s})
		}
	}
	points = append(points, study.Point{ID: "fresh-point", Study: "test", Label: "fresh", Spec: natsSpec(nil)}, *runsOf(simSpec(nil))[0].Point)
	measuredOn := map[string]map[string]bool{} // instances, by server and repetition
	_, err := lab.Run(t.Context(), study.Order(points, 2, 1, lab.SharedBroker), lab.Options{
		Store: db, Host: h, Log: testLog{t},
		Watch: func(e lab.Event) {
			running := h.Running()
			most := 1
			if e.Run.Point.Spec.Broker == "sim" {
				most = 0
			}
			if e.Kind == lab.Sampled && len(running) > most {
				t.Errorf("%s is measured while %d brokers are up", e.Run.Point.Label, len(running))
			}
			if e.Kind != lab.Ended || lab.SharedBroker(e.Run.Point.Spec) == "" || len(running) == 0 {
				return
			}
			key := fmt.Sprint(e.Run.Point.Spec.Server, " in repetition ", e.Run.Repetition)
			if measuredOn[key] == nil {
				measuredOn[key] = map[string]bool{}
			}
			measuredOn[key][running[0].ID] = true
		},
	})
	if err != nil || len(readRecords(t, db)) != 2*len(points) {
		t.Fatalf("%v, %s", err, endings(readRecords(t, db)))
	}
	instances := map[string]bool{}
	for key, ids := range measuredOn {
		if len(ids) != 1 {
			t.Errorf("%s: measured on %d instances, want 1", key, len(ids))
		}
		for id := range ids {
			instances[id] = true
		}
	}
	if len(instances) != 4 || len(measuredOn) != 4 {
		t.Errorf("2 servers in 2 repetitions were %d instances, want 4: %v", len(instances), measuredOn)
	}
	checkNothingLeft(t, h)
}

func TestAfterAFaultARecordSaysHowLongLateDuplicatesWereLookedFor(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	spec := simSpec(func(s *study.Spec) {
		s.Broker, s.Delivery, s.Acks, s.Client = "jetstream", "exactly-once", "leader", map[string]any{"AckWait": "1s"}
		setRate(s, 200, 2*time.Second)
		s.Faults = []study.Fault{{At: study.Duration(500 * time.Millisecond), Do: "pause", Node: "1", For: study.Duration(200 * time.Millisecond)}}
	})
	began := time.Now()
	r := runCounts(t, spec, lab.Options{Host: h})
	want := store.Listened{Ns: 2e9, RedeliveryNs: 1e9}
	if r.Result.Listened == nil || *r.Result.Listened != want || time.Since(began) < 4*time.Second {
		t.Errorf("%+v after %v, want %+v", r.Result.Listened, time.Since(began), want)
	}
	if last := r.Result.Series; len(last) > 0 && last[len(last)-1].OffsetNs > int64(testkit.Within(3500*time.Millisecond)) {
		t.Errorf("the series goes on while the trial listens, until %v", time.Duration(last[len(last)-1].OffsetNs))
	}
	if seconds := r.Result.Cost.Seconds; seconds > testkit.Within(3500*time.Millisecond).Seconds() {
		t.Errorf("the cost is that of %g s, listening included", seconds)
	}
}
