package page_test

import (
	"io"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/advise/advisetest"
	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/reports"
)

// decision writes the record of a decision, with long names and settings as a user may have them.
func decision(t *testing.T) string {
	t.Helper()
	contenders := []advisetest.Planted{
		{Name: "jetstream", P99: 3 * time.Millisecond, Capacity: 70_000, Cost: 2},
		{Name: "kafka at broker-1.example.org:9092,broker-2.example.org:9092", P99: 8 * time.Millisecond, Capacity: 300_000, Cost: 5},
		{Name: "redis", P99: 2 * time.Millisecond, Capacity: 9_000, Cost: 1},
	}
	w := advise.Wish{Rate: 5000, Peak: 15_000, P99: 20 * time.Millisecond, Hold: 10 * time.Second}
	for _, p := range contenders {
		w.Contenders = append(w.Contenders, advise.Contender{Name: p.Name, Set: map[string]any{"broker": p.Name[:5], "client": map[string]any{"seed": p.Capacity}}, Killable: true})
	}
	s, err := w.Study("test")
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	records := advisetest.Measured(points, 3, contenders...)
	d, err := reports.Decision(advise.CaseOf(points).Decide(records), records, advisetest.Measured(points, 3, contenders...))
	if err != nil {
		t.Fatal(err)
	}
	return written(t, "decision", func(w io.Writer) error {
		return page.Document(w, d, page.Source{Set: results.Of(records), Command: "brokermark advise -o decision.html", Tool: "0.1.0"})
	})
}

func TestADecisionFitsOnNarrowAndWideScreens(t *testing.T) {
	path := decision(t)
	for name, width := range map[string]int64{"decision-narrow": 400, "decision-wide": 1200} {
		b := open(t, path, browsertest.Screen{Width: width, Height: 900})
		if got := browsertest.Eval[int64](t, b, `document.documentElement.scrollWidth`); got > width {
			t.Errorf("the page is %d pixels wide on a screen of %d", got, width)
		}
		if got := browsertest.Eval[int64](t, b, `[...document.querySelectorAll("figure img")].filter(i => i.naturalWidth > 0).length`); got != 1 {
			t.Errorf("%d charts are drawn, want one", got)
		}
		if *keep != "" {
			shoot(t, b, name, width)
		}
		b.Quiet(t)
	}
}
