package crash

import (
	"strings"
	"testing"
)

func TestWordsOfALibraryArePassedOnAndADumpIsKept(t *testing.T) {
	long := strings.Repeat("x", 10_000) + "\n"
	for name, c := range map[string]struct{ from, passed, dump string }{
		"nothing":           {"", "", ""},
		"words":             {"2026/11/23 connection lost\n" + long + "no end", "2026/11/23 connection lost\n" + long + "no end", ""},
		"a panic":           {"panic: a\n\ngoroutine 1\n", "", "panic: a\n\ngoroutine 1\n"},
		"words, then a map": {"lost\nfatal error: concurrent map writes\nlost\n", "lost\n", "fatal error: concurrent map writes\nlost\n"},
		"SIGQUIT":           {"SIGQUIT: quit\nPC=0x1\n", "", "SIGQUIT: quit\nPC=0x1\n"},
		"a race":            {"WARNING: DATA RACE\n", "WARNING: DATA RACE\n", ""},
		"a stack too deep":  {"lost\nruntime: goroutine stack exceeds 1000000000-byte limit\nruntime: sp=0x1\nfatal error: stack overflow\n", "lost\n", "runtime: goroutine stack exceeds 1000000000-byte limit\nruntime: sp=0x1\nfatal error: stack overflow\n"},
		"its last words":    {"fatal: morestack on g0\n", "", "fatal: morestack on g0\n"},
		"a library's words": {"runtime: slow\nfatal: no leader\nlost\nruntime: slow\nback\n", "runtime: slow\nfatal: no leader\nlost\nruntime: slow\nback\n", ""},
	} {
		var passed strings.Builder
		if dump := sift(strings.NewReader(c.from), &passed); dump != c.dump || passed.String() != c.passed {
			t.Errorf("%s: passed on %q and kept %q", name, passed.String(), dump)
		}
	}
	if dump := sift(strings.NewReader("panic: a\n"+strings.Repeat(long, maxDump/len(long)+1)), nil); len(dump) > maxDump+100 || !strings.Contains(dump, "cut off after") {
		t.Errorf("of a long dump %d bytes are kept", len(dump))
	}
}
