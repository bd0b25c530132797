package cli_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/results says of a study at the scale of its paper is what its records say.
func TestThePagesOfPapersAreThoseOfTheirRecords(t *testing.T) {
	const results = "../../docs/results"
	pages, err := filepath.Glob(results + "/*-paper.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		study, dir := strings.TrimSuffix(filepath.Base(page), "-paper.md"), t.TempDir()
		db, again := filepath.Join(dir, "paper.db"), filepath.Join(dir, "page.md")
		data, err := filepath.Glob(filepath.Join(results, "data", study+".*.jsonl.gz"))
		if err != nil || len(data) == 0 {
			t.Fatalf("%s: %d files of records, %v", study, len(data), err)
		}
		for _, file := range data {
			brokermark(t, "import", gunzipped(t, file), "--store", db).want(t, 0)
		}
		brokermark(t, "report", "study", "--store", db, "--where", "study="+study, "-o", again).want(t, 0)
		want, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(again); err != nil || string(got) != string(want) {
			t.Errorf("%s isn't what its records say now (%v): make it again with docs/results/make.sh paper %s", page, err, study)
		}
	}
}

// gunzipped returns the path of a file's content.
func gunzipped(t *testing.T, file string) string {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	content, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, content); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}
