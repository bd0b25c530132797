package lab_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// simulated is a broker of sim that a search has to find the capacity of.
type simulated struct {
	name   string
	edit   func(*study.Spec)
	truth  float64
	client map[string]any
}

// someSim is a clean broker, one with loss that at most once allows, or one with hiccups: as in the model of package
// search, but with a capacity that two cores can drive.
func someSim(rng *rand.Rand, kind int) simulated {
	subscriptions := []int{1, 3, 20}[rng.IntN(3)]
	capacity := math.Round(500 * math.Pow(60/float64(subscriptions), rng.Float64()))
	latency := time.Duration(rng.Float64() * 1e8).Round(time.Microsecond)
	s := simulated{truth: capacity, client: map[string]any{"capacity": capacity, "latency": latency.String()}}
	switch kind {
	case 1:
		s.client["loss.every"] = 1000
	case 2:
		s.client["stall.at"], s.client["stall.every"], s.client["stall.for"] = "1s", "1s", "30ms"
		s.truth *= 0.97
	}
	s.name = fmt.Sprintf("%.0f/s, %s, %d subscriptions, %s", capacity, latency, subscriptions, []string{"clean", "1 in 1,000 lost", "hiccups of 30 ms"}[kind])
	s.edit = func(spec *study.Spec) {
		spec.SubscriptionsPerTopic, spec.Client = subscriptions, s.client
		spec.Sustainable.Confirm = study.Duration(3 * time.Second)
		if kind == 1 {
			spec.Delivery, spec.Acks = "at-most-once", "none"
		}
	}
	return s
}

func TestSearchesFindTheCapacityOfManySims(t *testing.T) {
	testkit.Long(t) // the model of package search has hundreds of these
	const searches = 12
	rng := rand.New(rand.NewPCG(3, 11))
	inside, decided := 0, 0
	for i := range searches {
		s := someSim(rng, i%3)
		t.Run(s.name, func(t *testing.T) {
			r, found := runSearch(t, s.edit)
			t.Logf("%.0f to %.0f/s: %s %s, %v", found.Low, found.High, r.Status, r.Reason, r.Doubts)
			if hasDoubt(r, "busy-machine") {
				testkit.Undecided(t, "the search says that others used the machine")
			}
			requireFound(t, r)
			decided++
			if found.Low <= s.truth && s.truth <= found.High {
				inside++
			}
			if found.Low > 1.0101*s.truth || found.High < 0.98*s.truth { // the rule allows a growth of 1 %
				t.Errorf("found %.0f to %.0f/s, the truth is %.0f/s: %s %s", found.Low, found.High, s.truth, r.Status, r.Reason)
			}
			if found.High > found.Low*1.05*(1+1e-9) {
				t.Errorf("%.0f to %.0f/s is wider than 5 %%", found.Low, found.High)
			}
			if c := found.Goals[0].Conditional; c > found.Low || c < 0.97*found.Low {
				t.Errorf("%.0f of %.0f/s came through", c, found.Low)
			}
		})
	}
	t.Logf("%d of %d inside, %d of %d decided", inside, decided, decided, searches)
	if decided < searches/2 {
		testkit.Undecided(t, "only %d of %d searches were undisturbed", decided, searches)
	}
	if inside < decided-1 {
		t.Errorf("the truth lies inside in %d of %d", inside, decided)
	}
}
