package page_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
)

var keep = flag.String("pages", "", "directory to leave the pages in, to be looked at")

// voidOnly are records none of which may be used.
func voidOnly() []store.Record {
	records := sweep(1)
	for i := range records {
		if records[i].Result != nil {
			records[i].Status, records[i].Reason = store.Void, "the generator was 9 ms late at p99"
		}
	}
	return records
}

// file writes the page of records and returns its path.
func file(t *testing.T, name string, records []store.Record) string {
	t.Helper()
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, name+".html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := page.Write(f, report.Default, page.Source{Records: records, Command: "brokermark report --format html -o " + name + ".html", Tool: "0.1.0"}); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPages(t *testing.T) {
	for name, records := range map[string][]store.Record{
		"sweep": sweep(5), "linger": linger(6, 5, 3), "void": voidOnly(), "single": sweep(1)[:1], "empty": nil, "hostile": hostile(), "large": linger(100, 20, 5),
	} {
		file(t, name, records)
	}
	_ = reports.Side{}
}

func TestShots(t *testing.T) {
	if *keep == "" {
		t.Skip("no -pages to leave pictures in")
	}
	for _, name := range []string{"sweep", "linger"} {
		path := file(t, name, map[string][]store.Record{"sweep": sweep(5), "linger": linger(6, 5, 3)}[name])
		for suffix, s := range map[string]screen{"light": desktop, "dark": {1280, 900, true}, "phone": {390, 844, false}, "phone-dark": {390, 844, true}} {
			b := open(t, path, s)
			b.scroll(t)
			b.shoot(t, name+"-"+suffix, s.width)
			b.quiet(t)
		}
	}
}
