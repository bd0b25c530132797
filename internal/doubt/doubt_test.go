package doubt_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/doubt"
)

func TestKind_IsWholeAndOfAClass(t *testing.T) {
	code := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for _, k := range doubt.All() {
		if !code.MatchString(k.Code()) || !slices.Contains(doubt.Classes(), k.Class()) {
			t.Errorf("%q of the class %q", k.Code(), k.Class())
		}
		if s := k.Sentence(); s == "" || strings.HasSuffix(s, ".") || len(s) > 120 || strings.HasSuffix(k.More(), ".") {
			t.Errorf("%s: sentence %q, more %q", k.Code(), s, k.More())
		}
		if known, ok := doubt.Lookup(k.Code()); !ok || known != k {
			t.Errorf("%s is found as %v, %v", k.Code(), known, ok)
		}
	}
}

// Clocks are shown as ± in the cell and provenance once below the table, so that no table has marks of more than four classes.
func TestKind_OfFourClassesHasMarks(t *testing.T) {
	marked := map[doubt.Class]bool{}
	for _, k := range doubt.All() {
		if k.Place().Marks() {
			marked[k.Class()] = true
		}
	}
	if len(marked) != 4 || marked[doubt.Clocks] || marked[doubt.Provenance] {
		t.Errorf("classes with marks: %v", marked)
	}
}

func TestLookup_OfAnotherVersionsCode(t *testing.T) {
	k, ok := doubt.Lookup("short-horizon")
	if ok || k.Code() != "short-horizon" || k.Class() != doubt.Provenance || k.Place().Marks() {
		t.Errorf("%+v, %v", k, ok)
	}
}
