package hist

import (
	"math"
	"math/rand/v2"
	"testing"
)

// correctedOneByOne is HdrHistogram's own loop.
func correctedOneByOne(s Snapshot, interval int64) *Histogram {
	h := New()
	for c := s.buckets.first(); c.ok; c.next() {
		v := s.clip(highest(c.index))
		h.RecordN(v, c.count)
		if interval <= 0 {
			continue
		}
		for missing := v - interval; missing >= interval; missing -= interval {
			h.RecordN(missing, c.count)
		}
	}
	return h
}

func TestACorrectionPutsInWhatHdrHistogramPutsIn(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	rounds := 200
	if testing.Short() { // under the race detector, where values put in one by one take a minute
		rounds = 10
	}
	for range rounds {
		h := New()
		for range 1 + random.IntN(50) {
			h.RecordN(random.Int64N(1<<(1+random.IntN(24))), 1+random.Int64N(5))
		}
		s := h.Snapshot()
		interval := random.Int64N(1 << (1 + random.IntN(22)))
		got, want := s.Corrected(interval), correctedOneByOne(s, interval).Snapshot()
		if got.Count() != want.Count() || got.Max() != want.Max() || math.Abs(got.Mean()-want.Mean()) > 0.005*want.Mean() {
			t.Fatalf("interval %d: %d values, mean %g, max %d; want %d, %g, %d", interval, got.Count(), got.Mean(), got.Max(), want.Count(), want.Mean(), want.Max())
		}
		if got.Min() > want.Min() || float64(want.Min()-got.Min()) > 0.005*float64(want.Min()) {
			t.Fatalf("interval %d: the least is %d, want %d", interval, got.Min(), want.Min())
		}
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99} {
			if g, w := got.Quantile(q), want.Quantile(q); math.Abs(float64(g-w)) > 0.005*float64(w) {
				t.Fatalf("interval %d: q %g is %d, want %d", interval, q, g, w)
			}
		}
	}
}

// A stall of 100 s in a sender of one message per second: by the mean of what was measured it is nothing.
func TestACorrectionChargesAStallToWhatWasNotSent(t *testing.T) {
	h := New()
	h.RecordN(1e6, 9900)
	h.Record(100e9)
	if got := h.Snapshot().Corrected(1e9); got.Count() != 10_000 || got.Quantile(0.5) > 1_004_000 || got.Quantile(0.995) < 49e9 || got.Quantile(0.995) > 51e9 {
		t.Errorf("%d values, p99.5 %d", got.Count(), got.Quantile(0.995))
	}
}

func TestTotalsAreWhatASnapshotSumsUp(t *testing.T) {
	h := New()
	if n, sum := h.Totals(); n != 0 || sum != 0 {
		t.Errorf("of nothing: %d, %g", n, sum)
	}
	for i := range int64(1000) {
		h.Record(i * 1000)
	}
	n0, sum0 := h.Totals()
	h.RecordN(4e6, 10)
	n, sum := h.Totals()
	if mean := (sum - sum0) / float64(n-n0); n != 1010 || math.Abs(sum0/1000-499_500) > 1000 || math.Abs(mean-4e6) > 4e6/512 {
		t.Errorf("%d values, then %d with a mean of %g", n0, n-n0, mean)
	}
}
