package page_test

import (
	"io"
	"testing"

	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// BenchmarkTenThousandRecords builds the page of a large study; it must stay below ten seconds.
func BenchmarkTenThousandRecords(b *testing.B) {
	for name, records := range map[string][]store.Record{"2000 points": linger(100, 20, 5), "10000 points": linger(500, 20, 1)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := page.Summary(io.Discard, page.Source{Set: results.Of(records)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
