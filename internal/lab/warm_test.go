package lab_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// stagesOf are the stages of each point of a run on a real broker, in order.
func stagesOf(t *testing.T, points ...study.Spec) (stages [][]string, records []store.Record) {
	t.Helper()
	h, db := newHost(t), openStore(t)
	_, err := lab.Run(t.Context(), runsOf(points...), lab.Options{Store: db, Host: h, Watch: func(e lab.Event) {
		switch e.Kind {
		case lab.Began:
			stages = append(stages, nil)
		case lab.Staged:
			stages[len(stages)-1] = append(stages[len(stages)-1], e.Stage)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	checkNothingLeft(t, h)
	return stages, readRecords(t, db)
}

func TestABrokerIsWarmedUpOnceAndNothingOfItIsCounted(t *testing.T) {
	t.Parallel()
	for _, delivery := range []string{"at-most-once", "at-least-once"} {
		t.Run(delivery, func(t *testing.T) {
			const warm = 1200 * time.Millisecond
			point := func(rate float64) study.Spec {
				return natsSpec(func(s *study.Spec) {
					s.Isolation, s.BrokerWarmup = "shared", study.Duration(warm)
					if delivery == "at-least-once" {
						s.Broker, s.Delivery, s.Acks = "jetstream", delivery, "leader"
					}
					s.Load.Rate = rate
				})
			}
			began := time.Now()
			stages, records := stagesOf(t, point(1000), point(500))
			if took := time.Since(began); took < warm {
				t.Errorf("all was over after %s, and the warm-up alone takes %s", took, warm)
			}
			warming := func(s string) bool { return strings.HasPrefix(s, "warming up") }
			if len(stages) != 2 || !slices.ContainsFunc(stages[0], warming) || slices.ContainsFunc(stages[1], warming) {
				t.Fatalf("stages %q", stages)
			}
			for i, want := range []int64{500, 250} {
				// Other tests run meanwhile, so the generator may be late. Its counts hold all the same.
				if r := records[i]; !countsHold(r) || r.Result.Books.Sent != want || r.Result.Books.Received != want {
					t.Errorf("%s: %s: %+v, want %d messages", r.Status, r.Reason, r.Result.Books, want)
				}
			}
		})
	}
}
