package page_test

import (
	"io"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/reports"
)

func TestNoRuleOfAccessibilityIsBroken(t *testing.T) {
	type seen struct {
		name, path string
		screen     browsertest.Screen
	}
	pages := []seen{
		{"mixed in the dark", summary(t, "mixed", sweep(2)), browsertest.Screen{Width: 390, Height: 844, Dark: true}},
		{"settings", summary(t, "settings", linger(12, 5, 1)), desktop},
		{"comparison in the dark", comparison(t), browsertest.Screen{Width: 1280, Height: 900, Dark: true}},
	}
	for _, name := range reports.Names() {
		if !testkit.Thorough() && slices.Contains([]string{"summary", "ledger", "points", "trials"}, name) { // much like the pages above
			continue
		}
		path := written(t, name, func(w io.Writer) error { return reportPage(w, name, page.Source{Set: results.Of(sweep(1))}) })
		pages = append(pages, seen{name, path, desktop})
	}
	for _, c := range pages {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.path, c.screen)
			scroll(t, b)
			browsertest.Eval[bool](t, b, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
			b.Accessible(t)
			b.Quiet(t)
		})
	}
}
