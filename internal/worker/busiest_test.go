package worker

import (
	"context"
	"strings"
	"testing"
	"time"
)

// In a closed loop over a driver that does nothing, the producer's goroutine never waits.
func TestAnOutcomeNamesTheBusiestGoroutine(t *testing.T) {
	for length, known := range map[time.Duration]bool{time.Second: true, 300 * time.Millisecond: false} {
		out := prepared(t, 1, 100).Run(context.Background(), Load{Duration: length, Drain: time.Second})
		if got := out.Busiest; strings.HasSuffix(got.Name, " of producer 0") != known || (got.Share > 0.05) != known {
			t.Errorf("a phase of %s: %+v", length, got)
		}
	}
}
