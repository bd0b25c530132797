package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestAcknowledgedLossIsCalledLoss(t *testing.T) {
	t.Parallel()
	r, found := runSearch(t, func(s *study.Spec) {
		s.Sustainable.Budget = study.Duration(4 * time.Second) // each trial that loses waits 5 s for what is lost
		s.Sustainable.Trial, s.Drain = study.Duration(300*time.Millisecond), study.Duration(2*time.Second)
		s.Client = map[string]any{"capacity": 20_000, "loss.every": 10}
	})
	if r.Status != store.Failed || !strings.Contains(r.Reason, "lost although the broker had confirmed them") || found.Low != 0 {
		t.Errorf("%s: %s, %+v", r.Status, r.Reason, found.Goals)
	}
}
