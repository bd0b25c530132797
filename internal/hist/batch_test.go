package hist

import (
	"math/rand/v2"
	"testing"
)

func TestABatchGivesWhatRecordGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	one, many := New(), New()
	var b Batch
	for range 10_000 {
		v := rng.Int64N(2_000) + rng.Int64N(2)*rng.Int64N(1e9) - 5
		one.Record(v)
		many.Add(&b, v)
	}
	many.Flush(&b)
	many.Flush(&b) // nothing left
	a, c := one.Snapshot(), many.Snapshot()
	if a.Count() != c.Count() || a.Min() != c.Min() || a.Max() != c.Max() || a.Mean() != c.Mean() {
		t.Errorf("batch: n %d min %d max %d mean %f; record: n %d min %d max %d mean %f",
			c.Count(), c.Min(), c.Max(), c.Mean(), a.Count(), a.Min(), a.Max(), a.Mean())
	}
	for _, q := range []float64{0.1, 0.5, 0.9, 0.999} {
		if a.Quantile(q) != c.Quantile(q) {
			t.Errorf("quantile %g: batch %d, record %d", q, c.Quantile(q), a.Quantile(q))
		}
	}
}
