package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/brokermark/brokermark/internal/bundle"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// packed is a bundle of one record.
func packed(f *testing.F) string {
	var out bytes.Buffer
	err := bundle.Contents{Study: study.New("s"), Folder: fstest.MapFS{}, Files: []bundle.File{{Name: bundle.RecordsFile, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, `{"schema":1,"point_id":"a","spec":{"broker":"sim"},"repetition":1,"status":"ok","began":"2026-01-01T00:00:00Z"}`+"\n")
		return err
	}}}}.Write(&out)
	if err != nil {
		f.Fatal(err)
	}
	return out.String()
}

// Whatever a file holds that is imported, it is another tool's, or read, or refused with its name as what it is: a bad input.
func FuzzImportedFile(f *testing.F) {
	for _, text := range []string{
		"", "\n", "{}\n", `{"point_id":"a"}` + "\n", `{"point_id":"a","spec":null}` + "\n", `{"point_id":5}` + "\n", `{"schema":1,"point_id":"a","spec":{},"repetition":1,"status":"ok","began":"2026-01-01T00:00:00Z"}` + "\n",
		" #[Start", "Value ", string(bundle.Header), packed(f), string(sqliteHeader), string(sqliteHeader) + strings.Repeat("\x01", 84), "\xff\x00",
	} {
		f.Add(".jsonl", []byte(text))
		f.Add(".json", []byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, ending string, text []byte) {
		if ending != ".jsonl" {
			ending = ".json"
		}
		path := filepath.Join(dir, "f"+ending)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		each, err := openOwn(t.Context(), path)
		var list []store.Checked
		if each != nil {
			list, err = store.Collect(each)
		}
		var said *failure
		switch {
		case err == nil && each == nil && ending == ".jsonl":
			t.Error("neither records nor a word")
		case err != nil && (list != nil || !strings.Contains(err.Error(), path)):
			t.Errorf("%d records, and %v", len(list), err)
		case err != nil && errors.As(err, &said) && said.code != exitInput:
			t.Errorf("code %d: %v", said.code, err)
		}
	})
}
