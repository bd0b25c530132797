package lab_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestALittleLossAtMostOnceIsNoReasonToFail(t *testing.T) {
	testkit.Long(t) // the model has 150 of these
	r, found := runSearch(t, func(s *study.Spec) {
		s.Delivery, s.Acks = "at-most-once", "none"
		s.Client = map[string]any{"capacity": 20_000, "loss.every": 10_000}
	})
	checkBounds(t, r, found.Low, found.High, 20_000, 0.05)
}

func TestFanOutIsJudgedByItsDeliveries(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		s.SubscriptionsPerTopic = 60
		s.Client = map[string]any{"capacity": 1500, "latency": "40ms", "latency.distribution": "exponential"}
	})
	checkBounds(t, r, found.Low, found.High, 1500, 0.05)
}

func TestTheRecordIsThatOfTheRateItReports(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		s.Client = map[string]any{"capacity": 5000, "latency": "3ms"}
	})
	requireFound(t, r)
	m := r.Result.Measurement
	var length float64 // of the full-length trials at that rate
	least, most := int64(math.MaxInt64), int64(0)
	for _, tr := range found.Trials {
		if tr.Kind == "confirm" && tr.Rate == found.Low && tr.Verdict != "void" {
			length, least, most = length+tr.Seconds, min(least, tr.EndToEndP99), max(most, tr.EndToEndP99)
		}
	}
	p99 := m.Latency.EndToEnd.Quantile(0.99)
	if m.OfferedRate != found.Low || math.Abs(float64(m.Books.Sent)-found.Low*m.Seconds) > 4 || m.Seconds != length || p99 < least || p99 > most || m.Cost.Messages != m.Books.Acked {
		t.Errorf("low %.1f/s, the record offered %.1f/s for %g of %g s, sent %d, cost of %d", found.Low, m.OfferedRate, m.Seconds, length, m.Books.Sent, m.Cost.Messages)
	}
	first := found.Goals[0]
	if first.Low != found.Low || first.High != found.High || first.Conditional > first.Low || first.Conditional < 0.97*first.Low {
		t.Errorf("%+v, the bounds are %g and %g", first, found.Low, found.High)
	}
}

func TestSeveralBoundsAreFoundByOneSearch(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		// One bound that holds up to the capacity, one that never does.
		s.Sustainable.Goals = []study.SearchGoal{{}, {Latency: study.Duration(500 * time.Millisecond), Quantile: 0.9}, {Latency: study.Duration(time.Millisecond), Quantile: 0.5}}
		s.Client = map[string]any{"capacity": 5000, "latency": "3ms"}
	})
	if len(found.Goals) != 3 {
		t.Fatalf("%+v", found.Goals)
	}
	for _, g := range found.Goals[:2] {
		checkBounds(t, r, g.Low, g.High, 5000, 0.05)
	}
	if never := found.Goals[2]; never.Low != 0 || never.Undecided == "" || never.LatencyNs != 1e6 || never.Quantile != 0.5 {
		t.Errorf("%+v", never)
	}
	for _, tr := range found.Trials {
		if tr.Kind != "probe" && len(tr.Others) != 2 {
			t.Errorf("%+v", tr)
		}
	}
}

func TestHiccupsAreNoReasonToFail(t *testing.T) {
	testkit.Long(t) // the model has hundreds of these
	r, found := runSearch(t, func(s *study.Spec) {
		s.SubscriptionsPerTopic = 3
		s.Sustainable.Confirm = study.Duration(3 * time.Second)
		s.Client = map[string]any{"capacity": 4000, "latency": "5ms", "stall.at": "1s", "stall.every": "1s", "stall.for": "30ms"}
	})
	requireFound(t, r)
	checkNear(t, r, "sustainable rate", found.Low, 0.97*4000, 0.06)
}

func TestALongLatencyWithoutABoundIsNoReasonToFail(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		s.Client = map[string]any{"capacity": 2000, "latency": "1.2s"}
		s.Sustainable.Width = 0.3
	})
	checkBounds(t, r, found.Low, found.High, 2000, 0.3)
}

func TestArrivalsMayBePoisson(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		s.Load = study.Load{Shape: "poisson"}
		s.Sustainable.Confirm = study.Duration(3 * time.Second)
		s.Client = map[string]any{"capacity": 10_000, "latency": "3ms"}
	})
	requireFound(t, r)
	checkNear(t, r, "sustainable rate", found.Low, 10_000, 0.1)
	// Waiting in a queue is what random arrivals are about: evenly spaced ones never wait below the capacity.
	if e := r.Result.Latency.EndToEnd; e.Quantile(0.99) < int64(3*time.Millisecond) {
		t.Errorf("p99 %s", time.Duration(e.Quantile(0.99)))
	}
}

func TestARateIsSoakedWhereThatIsAskedFor(t *testing.T) {
	testkit.Long(t)
	r, found := runSearch(t, func(s *study.Spec) {
		s.Sustainable.Soak = study.Duration(4 * time.Second)
		s.Client = map[string]any{"capacity": 5000, "latency": "3ms"}
	})
	requireFound(t, r)
	if r.Result.Seconds != 4 || !slices.ContainsFunc(found.Trials, func(tr store.Trial) bool { return tr.Kind == "soak" && tr.Rate == found.Low && tr.Verdict == "pass" }) {
		t.Errorf("the record is of %g s", r.Result.Seconds)
	}
}

func TestABrokerThatStillWarmsUpIsFoundAtItsWarmCapacity(t *testing.T) {
	testkit.Long(t) // TestProbesGoOnWhileTheBrokerGetsFaster is the short one
	for _, delivery := range []string{"at-least-once", "at-most-once"} {
		t.Run(delivery, func(t *testing.T) {
			const truth = 4000
			r, found := runSearch(t, func(s *study.Spec) {
				s.Delivery = delivery
				if delivery == "at-most-once" {
					s.Acks = "none"
				}
				s.Client = map[string]any{"capacity": truth, "warming": 15_000} // 11 s of full load
				s.Sustainable.Width, s.Sustainable.Budget = 0.1, study.Duration(30*time.Second)
			})
			checkBounds(t, r, found.Low, found.High, truth, 0.1)
		})
	}
}
