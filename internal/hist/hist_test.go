package hist

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func of(values ...int64) Snapshot {
	h := New()
	for _, v := range values {
		h.Record(v)
	}
	return h.Snapshot()
}

func TestEveryValueLiesInItsBucketAndBucketsAreNarrow(t *testing.T) {
	next := int64(0)
	for i := range numBuckets {
		lo, hi := lowest(i), highest(i)
		if lo != next {
			t.Fatalf("bucket %d begins at %d, want %d: a gap or an overlap", i, lo, next)
		}
		if index(lo) != i || index(hi) != i {
			t.Fatalf("bucket %d holds %d..%d, which are filed under %d and %d", i, lo, hi, index(lo), index(hi))
		}
		if width := hi - lo; i < overflow && width*perOctave > lo && width > 0 {
			t.Fatalf("bucket %d (%d..%d) is wider than 1/%d", i, lo, hi, perOctave)
		}
		next = hi + 1
	}
	if lowest(overflow) != Limit {
		t.Fatalf("the last bucket begins at %d, want %d", lowest(overflow), Limit)
	}
}

func TestAnEmptyHistogramAnswersZero(t *testing.T) {
	for name, s := range map[string]Snapshot{
		"zero value":    {},
		"nothing in it": New().Snapshot(),
		"all taken off": of(5, 7).Sub(of(5, 7)),
		"merged":        Snapshot{}.Merge(Snapshot{}),
	} {
		if s.Count() != 0 || s.Min() != 0 || s.Max() != 0 || s.Mean() != 0 || s.Quantile(0.5) != 0 || s.CountAbove(-1) != 0 || !s.IsZero() {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestOddValuesAreClampedAndCounted(t *testing.T) {
	s := of(-5, 1000, Limit-1, Limit, math.MaxInt64)
	if s.Count() != 5 || s.Min() != 0 || s.Max() != math.MaxInt64 {
		t.Fatalf("count %d, min %d, max %d", s.Count(), s.Min(), s.Max())
	}
	if got := s.CountAbove(Limit - 1); got != 2 {
		t.Errorf("%d values above the limit, want 2", got)
	}
	if want := float64(1000+3*Limit) / 5; math.Abs(s.Mean()-want) > want/512 {
		t.Errorf("mean %g, want %g", s.Mean(), want)
	}
	for q, want := range map[float64]int64{math.NaN(): 0, -1: 0, 0: 0, 0.2: 0, 1: math.MaxInt64, 2: math.MaxInt64} {
		if got := s.Quantile(q); got != want {
			t.Errorf("quantile %g is %d, want %d", q, got, want)
		}
	}
}

func TestQuantileRanksAreNotOffByOne(t *testing.T) {
	var values []int64
	for v := int64(1); v <= 100; v++ {
		values = append(values, v)
	}
	s := of(values...)
	for v := int64(1); v <= 100; v++ {
		if got := s.Quantile(float64(v) / 100); got != v {
			t.Errorf("quantile %g of 1..100 is %d, want %d", float64(v)/100, got, v)
		}
	}
	if got := s.Quantile(0.995); got != 100 {
		t.Errorf("quantile 0.995 of 1..100 is %d, want 100", got)
	}
}

func TestStatisticsAgreeWithASortedSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() int64{
		"uniform":     func() int64 { return r.Int64N(1e9) },
		"exponential": func() int64 { return int64(r.ExpFloat64() * 5e6) },
		"log-normal":  func() int64 { return int64(math.Exp(r.NormFloat64()*3 + 13)) },
		"constant":    func() int64 { return 1_234_567 },
		"two peaks":   func() int64 { return 1e5 + r.Int64N(2)*3e9 },
	}
	for name, draw := range shapes {
		values := make([]int64, 20_000)
		var sum float64
		for i := range values {
			values[i] = min(draw(), Limit-1)
			sum += float64(values[i])
		}
		s := of(values...)
		slices.Sort(values)
		if s.Count() != int64(len(values)) || s.Min() != values[0] || s.Max() != values[len(values)-1] {
			t.Errorf("%s: count %d, min %d, max %d", name, s.Count(), s.Min(), s.Max())
		}
		if mean := sum / float64(len(values)); math.Abs(s.Mean()-mean) > mean/512 {
			t.Errorf("%s: mean %g, want %g", name, s.Mean(), mean)
		}
		for _, q := range []float64{0.0001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999} {
			want := values[int(math.Ceil(q*float64(len(values))-1e-9))-1]
			if got := s.Quantile(q); got < want || got-want > want/256 {
				t.Errorf("%s: quantile %g is %d, want %d to %d", name, q, got, want, want+want/256)
			}
		}
	}
}

var nanoseconds = rapid.Custom(func(t *rapid.T) int64 {
	return rapid.Int64Range(0, math.MaxInt64).Draw(t, "v") >> rapid.IntRange(0, 62).Draw(t, "shift")
})

func TestMergingIsRecordingTogether(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(nanoseconds).Draw(t, "a"), rapid.SliceOf(nanoseconds).Draw(t, "b")
		want := of(slices.Concat(a, b)...)
		if got := of(a...).Merge(of(b...)); !equal(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		if got := of(b...).Merge(of(a...)); !equal(got, want) {
			t.Fatalf("the other way: got %+v\nwant %+v", got, want)
		}
	})
}

func TestSubtractingTheEarlierLeavesTheLater(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOf(nanoseconds).Draw(t, "a"), rapid.SliceOf(nanoseconds).Draw(t, "b")
		earlier, want := of(a...), of(b...)
		got := earlier.Merge(want).Sub(earlier)
		if !slices.Equal(got.buckets, want.buckets) || got.n != want.n {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		if got.min > want.min || index(got.min) != index(want.min) || got.max < want.max || index(got.max) != index(want.max) {
			t.Fatalf("extremes %d..%d are not in the buckets of %d..%d", got.min, got.max, want.min, want.max)
		}
	})
}

func TestCountAboveAgreesWithBuckets(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s, bound := of(rapid.SliceOf(nanoseconds).Draw(t, "values")...), nanoseconds.Draw(t, "bound")
		var above, all int64
		s.Buckets(func(lo, hi, n int64) bool {
			if min(hi, s.Max()) > bound {
				above += n
			}
			all += n
			return true
		})
		if got := s.CountAbove(bound); got != above || all != s.Count() {
			t.Fatalf("%d above %d, want %d; buckets hold %d of %d", got, bound, above, all, s.Count())
		}
	})
}

func TestBucketsStopsWhenTold(t *testing.T) {
	calls := 0
	of(1, 2, 3).Buckets(func(_, _, _ int64) bool { calls++; return calls < 2 })
	if calls != 2 {
		t.Errorf("called %d times, want 2", calls)
	}
}

// A snapshot beside recorders must be consistent in itself (it must survive its own JSON form), never shrink, and the
// last one must hold everything.
func TestConcurrentRecordingLosesNothing(t *testing.T) {
	const writers, each = 4, 20_000
	var h Histogram
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 0))
			for range each {
				h.Record(r.Int64N(1e9) >> r.IntN(30))
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	var s, decoded Snapshot
	for last, running := int64(0), true; running; last = s.Count() {
		select {
		case <-done:
			running = false
		default:
		}
		h.SnapshotInto(&s)
		if s.Count() < last {
			t.Fatalf("count fell from %d to %d", last, s.Count())
		}
		data, err := s.MarshalJSON()
		if err == nil {
			err = decoded.UnmarshalJSON(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if s.Count() != writers*each {
		t.Errorf("%d recorded, want %d", s.Count(), writers*each)
	}
}

func TestRecordingAndLiveSnapshotsAllocateNothing(t *testing.T) {
	h, v := New(), int64(0)
	var s Snapshot
	for i := range int64(100_000) {
		h.Record(i * 1000)
	}
	h.SnapshotInto(&s)
	if got := testing.AllocsPerRun(1000, func() {
		v = (v + 777_000) % 100_000_000
		h.Record(v)
		h.SnapshotInto(&s)
		_ = s.Quantile(0.99)
	}); got != 0 {
		t.Errorf("%g allocations per value and snapshot", got)
	}
}

func equal(a, b Snapshot) bool {
	return slices.Equal(a.buckets, b.buckets) && a.n == b.n && a.min == b.min && a.max == b.max
}

func BenchmarkRecord(b *testing.B) {
	h, v := New(), int64(1)
	for b.Loop() {
		v = (v*1664525 + 1013904223) & (1<<24 - 1)
		h.Record(v)
	}
}

func BenchmarkSnapshotInto(b *testing.B) {
	h := New()
	for i := range int64(1_000_000) {
		h.Record(i * 100)
	}
	var s Snapshot
	for b.Loop() {
		h.SnapshotInto(&s)
	}
}
