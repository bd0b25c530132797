package claim_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/study"
)

// Whatever claims.yaml holds, everything that is wrong comes as *study.Errors, or claims come that can be told apart and whose
// bounds are numbers.
func FuzzClaims(f *testing.F) {
	files, err := filepath.Glob("../../studies/*/" + claim.File)
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "claims: &a [*a]", "&a claims: *a", "claims: [{id: 1, says: s, where: w, all: &a [{all: *a}]}]", "x: &x {<<: *x}", "!!binary claims: []",
		"claims: [{id: 1, says: s, where: w, metric: publish_rate, threshold: {expect: {about: 1e308, within: 1e308}}}]",
		"claims: [{id: 1, says: s, where: w, metric: publish_rate, select: {x: {from: 1, to: .nan}}, rank: {by: x, order: [a, [b]]}}]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := claim.Parse("f.yaml", text)
		var es *study.Errors
		if err != nil && (list != nil || !errors.As(err, &es) || len(es.Problems) == 0) {
			t.Fatalf("%d claims, and %v", len(list), err)
		}
		seen := map[string]bool{}
		for _, c := range list {
			if c.ID == "" || seen[c.ID] {
				t.Errorf("the id %q is empty or that of two claims", c.ID)
			}
			seen[c.ID] = true
			for _, s := range c.Statements {
				if r := s.Expect; math.IsNaN(r.From) || math.IsNaN(r.To) || r.From > r.To {
					t.Errorf("%s: from %v to %v", c.ID, r.From, r.To)
				}
			}
		}
	})
}
