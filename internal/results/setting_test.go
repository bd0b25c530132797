package results

import (
	"testing"

	"github.com/brokermark/brokermark/internal/study"
)

func TestPointsOfDifferentSizesDoNotShareATable(t *testing.T) {
	for size, want := range map[study.Size]string{
		100: "100 B, at-least-once", 1024: "1 KiB, at-least-once", 1536: "1.50 KiB, at-least-once", 1 << 20: "1 MiB, at-least-once",
		1234: "1234 B, at-least-once", 1235: "1235 B, at-least-once", 1<<20 + 1: "1 048 577 B, at-least-once",
	} {
		p := Point{Spec: study.Spec{Delivery: "at-least-once", MessageSize: study.Sizes{{Size: size, Weight: 1}}}}
		if got := p.Setting(); got != want {
			t.Errorf("%d bytes: %q, want %q", size, got, want)
		}
	}
}
