package spans

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// ranges are what a set of exactly these numbers has to consist of: as few ranges as there are, in rising order.
func ranges(numbers []uint64) (want []span) {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	for i, n := range numbers {
		if i > 0 && numbers[i-1] == n-1 {
			want[len(want)-1].to = n
		} else {
			want = append(want, span{n, n})
		}
	}
	return want
}

func TestASetIsTheFewestRangesInWhateverOrderItsNumbersCome(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]uint64{0, 1 << 40, math.MaxUint64 - 20}).Draw(t, "base")
		numbers := rapid.SliceOfN(rapid.Map(rapid.Uint64Range(0, 20), func(n uint64) uint64 { return base + n }), 0, 60).Draw(t, "numbers")
		var s Set
		for i, n := range numbers {
			if got, want := s.Add(n), !slices.Contains(numbers[:i], n); got != want {
				t.Fatalf("%d is new: %v, want %v", n, got, want)
			}
			if want := ranges(numbers[:i+1]); !slices.Equal(s.ranges, want) {
				t.Fatalf("after %d the set is %v, want %v", n, s.ranges, want)
			}
		}
		for n := base; n <= base+20 && n >= base; n++ {
			if got, want := s.Has(n), slices.Contains(numbers, n); got != want {
				t.Fatalf("%d is in the set: %v, want %v", n, got, want)
			}
		}
	})
}
