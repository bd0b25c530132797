package store

import (
	"strings"
	"testing"
)

// Whatever a file of records holds, it is read or refused: records come whole, up to where a crash cut them.
func FuzzRecordsOfAFile(f *testing.F) {
	whole := `{"schema":1,"point_id":"a","spec":{"broker":"sim"},"repetition":1,"status":"ok","began":"2026-01-01T00:00:00Z"}` + "\n"
	for _, text := range []string{"", whole, whole + whole[:30], "{}\n", "[1]\n", "null\n", `{"schema":1e99}` + "\n", `{"schema":1,"spec":{"server":{"a":1e999}}}` + "\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		outcomes := 0
		for r, err := range eachLine("f.jsonl", strings.NewReader(text)) {
			outcomes++
			if err != nil && !is[notARecord](err) || err == nil && r.Check() != nil {
				t.Errorf("line %d: %v", outcomes, err)
			}
		}
		if n := strings.Count(text, "\n"); outcomes != n {
			t.Errorf("%d records or errors of %d lines", outcomes, n)
		}
	})
}
