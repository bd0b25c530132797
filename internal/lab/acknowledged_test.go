package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// This test takes longest of those that run beside others, so it is the first of them, by the name of its file.
func TestAcknowledgedLossIsCalledLoss(t *testing.T) {
	t.Parallel()
	r, found := runSearch(t, func(s *study.Spec) {
		s.Sustainable.Trial, s.Drain = study.Duration(300*time.Millisecond), study.Duration(2*time.Second)
		s.Client = map[string]any{"capacity": 20_000, "loss.every": 10}
	})
	if r.Status != store.Failed || !strings.Contains(r.Reason, "lost although the broker had confirmed them") || found.Low != 0 {
		t.Errorf("%s: %s, %+v", r.Status, r.Reason, found.Goals)
	}
	n := 0
	for _, tr := range found.Trials {
		if tr.Kind != "probe" { // those go on until the broker gets no faster
			n++
		}
	}
	if n > 7 {
		t.Errorf("%d trials of a broker that loses at every rate", n)
	}
}
