package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of several payloads is never one message without a word.
func TestAFileOfSeveralPayloadsIsTakenApart(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.jsonl":     "{\"id\": 1, \"to\": \"x\"}\n\n{\"id\": 22, \"to\": \"x\"}\r\n",
		"b.ndjson":    "{\"id\": 1, \"to\": \"y\"}",
		"c.csv":       "\ufeffid,body\n1,\"eight, b\"\n2,\"two\nlines and more\"\n",
		"d.tsv":       "id\tbody\n1\teight, b\n",
		"short.jsonl": "{\"id\": 1000}\n{}\n",
		"short.csv":   "id,body\n1,12345678\n2,x\n",
		"ragged.csv":  "id,body\n1\n",
		"head.csv":    "id,body\n",
		"one.csv":     "a single line",
		"none.jsonl":  "\n",
		"dir/a.jsonl": "{\"a\": 111}\n{\"a\": 222}\n",
		"dir/b.json":  "{\"a\":\n 33333333}",
	} {
		write(t, dir, name, text)
	}
	for doc, want := range map[string]string{
		"payloadFile: a.jsonl":                        `"{\"id\": 1, \"to\": \"x\"}" "{\"id\": 22, \"to\": \"x\"}" 20:1,21:1`,
		"payloadFile: b.ndjson":                       `"{\"id\": 1, \"to\": \"y\"}" 20`,
		"payloadFile: c.csv\npayloadColumn: body":     `"eight, b" "two\nlines and more" 8:1,18:1`,
		"payloadFile: d.tsv\npayloadColumn: body":     `"eight, b" 8`,
		"payloadFile: one.csv":                        `"a single line" 13`,
		"payloadFile: dir":                            `"{\"a\": 111}" "{\"a\": 222}" "{\"a\":\n 33333333}" 10:2,16:1`,
		"payloadFile: c.csv":                          `f.yaml:1: payloadFile: payloads can't be read: DIR/c.csv has rows of several columns; payloadColumn says which one holds the payloads; there are: id, body`,
		"payloadFile: c.csv\npayloadColumn: bodi":     `f.yaml:1: payloadFile: payloads can't be read: DIR/c.csv has no column "bodi"; did you mean "body"?; there are: id, body`,
		"payloadFile: a.jsonl\npayloadColumn: id":     `f.yaml:1: payloadFile: payloads can't be read: DIR/a.jsonl is JSON lines, each of which is a payload; payloadColumn is for CSV`,
		"payloadFile: short.jsonl":                    `f.yaml:1: payloadFile: payloads can't be read: DIR/short.jsonl:2 has 2 bytes; a message needs at least 8`,
		"payloadFile: short.csv\npayloadColumn: body": `f.yaml:1: payloadFile: payloads can't be read: DIR/short.csv:3 has 1 bytes; a message needs at least 8`,
		"payloadFile: ragged.csv\npayloadColumn: id":  `f.yaml:1: payloadFile: payloads can't be read: DIR/ragged.csv is no CSV: record on line 2: wrong number of fields`,
		"payloadFile: head.csv\npayloadColumn: id":    `f.yaml:1: payloadFile: payloads can't be read: no payload in DIR/head.csv`,
		"payloadFile: none.jsonl":                     `f.yaml:1: payloadFile: payloads can't be read: DIR/none.jsonl has 1 bytes; a message needs at least 8`,
	} {
		s, err := Parse(filepath.Join(dir, "f.yaml"), []byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if points, err := s.Points(); err != nil {
			got = strings.ReplaceAll(err.Error(), dir+"/", "DIR/")
			got = "f.yaml" + strings.TrimPrefix(got, "DIR/f.yaml")
		} else {
			for _, p := range points[0].Payloads {
				got += fmt.Sprintf("%q ", p)
			}
			got += points[0].Spec.MessageSize.String()
		}
		if got != want {
			t.Errorf("%q\n  %s\nwant\n  %s", doc, got, want)
		}
	}
}

func TestWhereAPayloadStoodIsNotPartOfItsPoint(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", "id,body\n1,12345678\n2,123456789\n")
	write(t, dir, "b.jsonl", "12345678\n123456789\n")
	write(t, dir, "c.jsonl", "123456789\n12345678\n")
	id := func(doc string) string { return one(t, doc).ID }
	cells := id("payloadFile: " + filepath.Join(dir, "a.csv") + "\npayloadColumn: body")
	if lines := id("payloadFile: " + filepath.Join(dir, "b.jsonl")); lines != cells {
		t.Error("the same payloads from another file are another point")
	}
	if other := id("payloadFile: " + filepath.Join(dir, "c.jsonl")); other == cells {
		t.Error("other payloads are the same point")
	}
}

func TestManySizesAreToldByTheirExtremesAndMean(t *testing.T) {
	var s Sizes
	for _, size := range []Size{300, 100, 200, 100, 900} {
		s = s.with(size)
	}
	if got := s.Summary(); got != "100:2,200:1,300:1,900:1" {
		t.Error(got)
	}
	if got := s.with(1100).Summary(); got != "100–1100, mean 450" {
		t.Error(got)
	}
}
