package reports

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

func TestAnExhibitOfTooManyFiguresIsNotShown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "paper")
	rows := ""
	for i := range 2_000 {
		rows += fmt.Sprintf("%d,%d\n", i+1, i+100)
	}
	for name, text := range map[string]string{
		"study.yaml": "source: A paper, 2018\nbase: {measure: peak, broker: sim}\nsweeps: [{name: one, axes: {topics: {from: 1, to: 2000, step: 1}}}]\n" +
			"published: [{file: published/a.csv, experiment: one, axes: {topics: t}, metrics: {publish_rate: r}}]\n" +
			"exhibits:\n- {title: Small, experiment: one, rows: topics, columns: [publish_rate]}\n" +
			"- {title: Large, experiment: one, rows: topics, columns: [" + strings.Repeat("publish_rate, ", 2_000) + "]}\n",
		"claims.yaml": "claims: []\n", "published/a.csv": "t,r\n" + rows,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := ReadPaper(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := Study(results.Of(p.Figures), p)
	if n := len(tableUnder(t, d, "Small").Rows); n != 2_000 {
		t.Errorf("%d rows of the small one", n)
	}
	if !slices.Contains(d.Blocks, document.Block(document.Paragraph{Text: "It has too many rows and columns to be shown."})) {
		t.Error("nothing is said of the large one")
	}
}
