package spans_test

import (
	"math/rand/v2"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/spans"
)

func TestASetKnowsWhatWasAddedInWhateverOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, most := range []uint64{1, 2, 10, 1000} {
		var s spans.Set
		known := map[uint64]bool{}
		for range 4 * most {
			n := random.Uint64N(most)
			if got := s.Has(n); got != known[n] {
				t.Fatalf("%d of %d: in the set: %v, want %v", n, most, got, known[n])
			}
			if got := s.Add(n); got == known[n] {
				t.Fatalf("%d of %d: new: %v, want %v", n, most, got, !known[n])
			}
			known[n] = true
		}
		s.Clear()
		for n := range most {
			if s.Has(n) || !s.Add(n) || s.Add(n) {
				t.Fatalf("%d of %d after Clear: not new exactly once", n, most)
			}
		}
	}
}

func TestAGapCostsNothingForWhatComesAfterIt(t *testing.T) {
	var s spans.Set
	next := uint64(0)
	fill := func() {
		next += 2 // one never comes
		for range 100_000 {
			if s.Add(next + 1); !s.Add(next) {
				t.Fatalf("%d is not new", next)
			}
			next += 2
		}
	}
	fill()
	if got := testing.AllocsPerRun(3, fill); got > 5 {
		t.Errorf("200,000 numbers after a gap made %v allocations; want next to none", got)
	}
}

func BenchmarkAdd(b *testing.B) {
	var s spans.Set
	for n := uint64(0); b.Loop(); n++ {
		s.Add(n)
	}
}
