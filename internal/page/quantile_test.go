package page

import (
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// One message of 1000 lies beyond 0.999, and one of 10,000 beyond 0.9999, so each curve has one more value than its steps and the median, which is the largest.
func TestACurveEndsWhereLessThanAMessageIsLeft(t *testing.T) {
	for messages, values := range map[int]int{100: 2*8 + 3, 1000: 3*8 + 3, 10_000: 4*8 + 3, 100_000: 5*8 + 3} {
		h := hist.New()
		for i := range messages {
			h.Record(int64(i + 1))
		}
		all := h.Snapshot()
		c := mergedCurve([]store.Record{{Result: &store.Result{}}}, func(*store.Result) hist.Snapshot { return all })
		if len(c.Values) != values || c.Values[len(c.Values)-1] != c.Max {
			t.Errorf("the curve of %d messages has %d values, want %d; the last is %v of %v", messages, len(c.Values), values, c.Values[len(c.Values)-1], c.Max)
		}
	}
}
