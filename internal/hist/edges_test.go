package hist

import (
	"math"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// Several goroutines that all find a new extreme at once must not lose the furthest, nor wait for one another for ever.
func TestExtremesRaisedTogetherAreTheFurthest(t *testing.T) {
	const writers, each = 4, 200_000
	var h Histogram
	var group sync.WaitGroup
	for w := range int64(writers) {
		group.Go(func() {
			var b Batch
			for i := range int64(each) {
				if w%2 == 0 {
					h.Record(1e9 + writers*i + w)
					h.Record(1e9 - writers*i - w)
					continue
				}
				h.Add(&b, 1e9+writers*i+w)
				h.Add(&b, 1e9-writers*i-w)
			}
			h.Flush(&b)
		})
	}
	group.Wait()
	s, furthest := h.Snapshot(), int64(writers*(each-1)+writers-1)
	if s.Count() != 2*writers*each || s.Max() != 1e9+furthest || s.Min() != 1e9-furthest {
		t.Errorf("%d values from %d to %d, want %d from %d to %d", s.Count(), s.Min(), s.Max(), 2*writers*each, int64(1e9)-furthest, int64(1e9)+furthest)
	}
}

func TestAQuantileIsThatOfItsRank(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 511), 1, 40).Draw(t, "exact values")
		s := of(values...)
		counts := map[int64]int{}
		for _, v := range values {
			counts[v]++
		}
		below := 0
		for v := int64(0); v < 512; v++ {
			if below += counts[v]; counts[v] == 0 {
				continue
			}
			for _, rank := range []int{below, below - counts[v] + 1} {
				if got := s.Quantile(float64(rank) / float64(len(values))); got != v {
					t.Fatalf("value %d of %d is %d, want %d", rank, len(values), got, v)
				}
			}
			if got := s.CountAbove(v); got != int64(len(values)-below) {
				t.Fatalf("%d above %d, want %d", got, v, len(values)-below)
			}
		}
		if s.Quantile(math.SmallestNonzeroFloat64) != s.Min() {
			t.Fatalf("the least quantile is %d, want %d", s.Quantile(math.SmallestNonzeroFloat64), s.Min())
		}
	})
}

func TestMeansLieWithinTheBucketsOfTheirValues(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, Limit-1), 1, 40).Draw(t, "values")
		sum := 0.0
		for _, v := range values {
			sum += float64(v)
		}
		if got, want := of(values...).Mean(), sum/float64(len(values)); math.Abs(got-want) > want/512+0.5 {
			t.Fatalf("mean %v, want %v", got, want)
		}
		one := values[0]
		if got := of(one, one, one).Mean(); math.Abs(got-float64(one)) > 1e-6*float64(one) {
			t.Fatalf("the mean of %d alone is %v", one, got)
		}
	})
}

// The values of a bucket may all lie at one of its edges: the mean is off by half a bucket then, and no more.
func TestAMeanIsOffByHalfABucketAtMost(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		i, n := rapid.IntRange(2*perOctave, overflow-2).Draw(t, "bucket"), rapid.IntRange(1, 1000).Draw(t, "values")
		for _, v := range []int64{lowest(i), highest(i)} {
			h := New()
			h.RecordN(v, int64(n))
			h.Record(lowest(i - 1))
			h.Record(highest(i + 1))
			want := (float64(v)*float64(n) + float64(lowest(i-1)) + float64(highest(i+1))) / float64(n+2)
			if got := h.Snapshot().Mean(); math.Abs(got-want) > want/512*1.001 {
				t.Fatalf("%d times %d in %d..%d: mean %v, want %v", n, v, lowest(i), highest(i), got, want)
			}
		}
	})
}
