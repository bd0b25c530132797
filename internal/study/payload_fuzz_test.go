package study

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Whatever a file of payloads holds, it is refused, or becomes payloads that stand where is said. JSON lines lose nothing but
// the white space around them.
func FuzzPayloads(f *testing.F) {
	for _, s := range []struct{ text, column string }{
		{"{\"id\": 1}\n\n{\"id\": 22}\r\n", ""},
		{"\ufeffid,body\n1,\"eight, b\"\n2,\"two\nlines\"\n", "body"},
		{"id\tbody\n1\teight, b\n", "body"},
		{"id,body\n1\n", "body"},
		{"\"", ""},
		{"\ufeff\n", "\ufeff"},
		{"\x00\xff\n\r", "\x00"},
	} {
		for _, name := range []string{"a.jsonl", "a.csv", "a.TSV", "a.json"} {
			f.Add(name, []byte(s.text), s.column)
		}
	}
	f.Fuzz(func(t *testing.T, name string, file []byte, column string) {
		held, err := payloadsIn(name, file, column)
		if err != nil && held != nil {
			t.Errorf("both %d payloads and %v", len(held), err)
		}
		lines := bytes.Split(file, []byte("\n"))
		json := strings.HasSuffix(name, ".jsonl") && len(bytes.TrimSpace(file)) > 0
		for _, p := range held {
			var line int
			switch _, err := fmt.Sscanf(strings.TrimPrefix(p.where, name), ":%d", &line); {
			case p.where == name && !json: // the whole file
			case err != nil || line < 1 || line > len(lines):
				t.Errorf("%q is said to stand in %s of %d lines", p.body, p.where, len(lines))
			case json && !bytes.Equal(bytes.TrimSpace(lines[line-1]), p.body):
				t.Errorf("%q doesn't stand in %s", p.body, p.where)
			}
		}
		if json && column == "" {
			empty := func(l []byte) bool { return len(bytes.TrimSpace(l)) == 0 }
			if filled := len(slices.DeleteFunc(lines, empty)); len(held) != filled {
				t.Errorf("%d payloads of %d lines: %v", len(held), filled, err)
			}
		}
	})
}
