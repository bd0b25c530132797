package page_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/report"
)

// axe is the accessibility checker that npm installed beside the front end.
func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core isn't installed: make web")
	}
	return string(source)
}

// violation is a rule that the page breaks, and where.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		Target         []any
		FailureSummary string
	}
}

// violations runs every rule of WCAG 2.2 A and AA and the best practices over the page as it is now.
func violations(t *testing.T, b *tab, source string) []violation {
	t.Helper()
	eval[bool](t, b, source+"; true")
	text := eval[string](t, b, `axe.run(document, { resultTypes: ["violations"] }).then(r => JSON.stringify(r.violations))`)
	var found []violation
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNoRuleOfAccessibilityIsBroken(t *testing.T) {
	source := axe(t)
	type seen struct {
		name, path string
		screen     screen
	}
	pages := []seen{
		{"mixed", summary(t, "mixed", sweep(2)), desktop},
		{"mixed in the dark", summary(t, "mixed", sweep(2)), screen{390, 844, true}},
		{"settings", summary(t, "settings", linger(12, 5, 1)), desktop},
		{"comparison in the dark", comparison(t), screen{1280, 900, true}},
	}
	for _, name := range report.Names() {
		path := written(t, name, func(w io.Writer) error { return page.Write(w, name, page.Source{Records: sweep(1)}) })
		pages = append(pages, seen{name, path, desktop})
	}
	for _, c := range pages {
		b := open(t, c.path, c.screen)
		b.scroll(t)
		eval[bool](t, b, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
		for _, v := range violations(t, b, source) {
			t.Errorf("%s: %s (%s): %s", c.name, v.ID, v.Impact, v.Help)
			for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
				t.Errorf("    %v: %s", n.Target, n.FailureSummary)
			}
		}
		b.quiet(t)
	}
}
