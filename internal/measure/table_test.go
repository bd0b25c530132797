package measure

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// A table is the smallest power of two with room for what a producer may have outstanding, and, unless all producers'
// tables would then hold more than a million entries, for a thousand messages that wait in the broker.
func TestATimeTableHasRoomForWhatIsOutstanding(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		outstanding := rapid.SampledFrom([]int{1, 63, 64, 65, 1023, 1024, 1025, 40_000, 65_536}).Draw(t, "outstanding")
		producers := rapid.OneOf(rapid.IntRange(1, 2000), rapid.IntRange(1, 4_000_000), rapid.SampledFrom([]int{1023, 1024, 1025, 2048, 16_384, 16_385})).Draw(t, "producers")
		enough := func(size int) bool { return size >= outstanding && (size >= 1024 || size*producers >= 1<<20) }
		want := 64
		for !enough(want) {
			want *= 2
		}
		table := newTimeTable(outstanding, producers)
		if got := int(table.mask) + 1; got != want {
			t.Fatalf("%d entries for %d outstanding of each of %d producers, want %d", got, outstanding, producers, want)
		}
		first := rapid.Uint64Range(0, 1<<40).Draw(t, "first")
		for n := first; n < first+uint64(outstanding); n++ {
			table.put(n, int64(n)+1, int64(n)+2)
		}
		for n := first; n < first+uint64(outstanding); n++ {
			if intended, sent, ok := table.look(n); !ok || intended != int64(n)+1 || sent != int64(n)+2 {
				t.Fatalf("message %d of %d outstanding: %d, %d, %v", n-first, outstanding, intended, sent, ok)
			}
		}
		if _, _, ok := table.look(first + uint64(outstanding)); ok {
			t.Fatal("a message that was never sent has times")
		}
	})
}
