package lab_test

import (
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Until the first confirmations come, a probe shows nothing of what the broker carries. Kafka with 100 new partitions took longer for
// them than a probe lasted, so a search began at 561/s, and ended there.
func TestASearchDoesNotBeginAtARateOfProbesWithoutAnyConfirmation(t *testing.T) {
	const capacity = 20_000
	_, found := runSearch(t, func(s *study.Spec) {
		s.Client = map[string]any{"capacity": capacity, "latency": "400ms", "ack.latency": "400ms"}
		s.Sustainable.Trial, s.Sustainable.Budget, s.Sustainable.Width = study.Duration(500*time.Millisecond), study.Duration(12*time.Second), 0.15
		s.Sustainable.MaxTrials = 3
		s.InFlight = study.InFlight{Messages: 10_000, Bytes: 64 << 20}
	})
	first := slices.IndexFunc(found.Trials, func(t store.Trial) bool { return t.Kind != "probe" })
	if rate := found.Trials[first].Rate; rate < capacity/4 {
		t.Errorf("the search begins at %.0f/s: the capacity is %d/s", rate, capacity)
	}
}
