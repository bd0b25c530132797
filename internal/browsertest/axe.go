package browsertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// violation is a rule that the page breaks, and where.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		Target         []any
		FailureSummary string
	}
}

// Accessible runs axe-core, which npm installs beside the report's front end, over the page as it is now: every rule of
// WCAG 2.2 A and AA and the best practices. The test is skipped where axe-core isn't installed. It runs in a directory two
// below the repository's root.
func (b *Tab) Accessible(t *testing.T) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		testkit.Lacks(t, "axe-core isn't installed: make web")
	}
	Eval[bool](t, b, string(source)+"; true")
	text := Eval[string](t, b, `axe.run(document, { resultTypes: ["violations"] }).then(r => JSON.stringify(r.violations))`)
	var found []violation
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Errorf("%s (%s): %s", v.ID, v.Impact, v.Help)
		for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
			t.Errorf("    %v: %s", n.Target, n.FailureSummary)
		}
	}
}
