package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was exported, and what another store holds, comes back whole and once.
func TestOwnRecordsComeBack(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	stored(t, in("a.db"))
	exported := brokermark(t, "export", "--store", in("a.db")).want(t, 0).out
	write(t, in("a.jsonl"), exported)
	write(t, in("a.flat"), brokermark(t, "export", "--store", in("a.db"), "--format", "flat").want(t, 0).out)
	brokermark(t, "export", "--store", in("a.db"), "--format", "hlog", "-o", in("a.hlog")).want(t, 0)
	write(t, in("empty"), "")
	first := brokermark(t, "import", in("a.jsonl"), "--store", in("b.db")).want(t, 0)
	if want := in("a.jsonl") + ": 8 records stored, 0 there already\n"; first.out != want {
		t.Errorf("said %q, want %q", first.out, want)
	}
	if again := brokermark(t, "import", in("a.jsonl"), in("a.db"), "--store", in("b.db")).want(t, 0); strings.Count(again.out, ": 0 records stored, 8 there already\n") != 2 {
		t.Errorf("said %q", again.out)
	}
	if back := brokermark(t, "export", "--store", in("b.db")).want(t, 0).out; back != exported {
		t.Errorf("came back as\n%.2000s\nwent as\n%.2000s", back, exported)
	}
	for name, want := range map[string]string{
		"empty":  " is empty",
		"a.flat": " holds figures only, no whole records",
		"a.hlog": " is a latency distribution of HdrHistogram: it doesn't say of which broker and load",
	} {
		complains(t, brokermark(t, "import", in(name), "--store", in("b.db")).want(t, 2), in(name)+want)
	}
	if _, err := os.Stat(in("b.db")); err != nil {
		t.Error(err)
	}
}
