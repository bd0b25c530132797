package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReportIsWrittenAsAPageOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	db, page := filepath.Join(dir, "records.db"), filepath.Join(dir, "report.html")
	brokermark(t, short("--store", db)...).want(t, 0)
	brokermark(t, "report", "--store", db, "-o", page).want(t, 0)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	// The name chose the format, and the page says how it was made.
	for _, want := range []string{"<!DOCTYPE html>", `data-key="throughput"`, "brokermark report --store " + db + " --format html --output " + page} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if out := brokermark(t, "report", "--store", db, "--format", "html").want(t, 0).out; !strings.HasPrefix(out, "<!DOCTYPE html>") {
		t.Errorf("on stdout the page begins with %.40q", out)
	}
	brokermark(t, short("--store", db, "--axis", "client.latency=1ms,2ms")...).want(t, 0)
	compared := brokermark(t, "compare", "client.latency=1ms", "client.latency=2ms", "--store", db, "--format", "html").want(t, 0).out
	if !strings.Contains(compared, "<title>client.latency=2ms against client.latency=1ms</title>") {
		t.Errorf("a comparison's page begins with %.400q", compared)
	}
	complains(t, brokermark(t, "compare", "broker=sim", "client.latency=1ms", "--store", db).want(t, 2),
		"Nothing to compare: every repetition of client.latency=1ms (1 record) is one of broker=sim (3 records), too")
	brokermark(t, "report", "--store", filepath.Join(dir, "none.db"), "-o", page).want(t, 6)
	if after, err := os.ReadFile(page); err != nil || string(after) != string(text) {
		t.Error("a report that failed changed the page that was there")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".brokermark-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestAFileWhoseEndingNamesNoFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "records.db")
	stored(t, db)
	for _, c := range []struct{ name, says string }{
		{"report.pdf", "brokermark figure draws these"},
		{"report.docx", "the ending doesn't name a format; allowed: .html"},
	} {
		path := filepath.Join(dir, c.name)
		if r := brokermark(t, "report", "--store", db, "-o", path); r.code != 2 || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit code %d, %s", c.name, r.code, r.err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written all the same", c.name)
		}
		brokermark(t, "report", "--store", db, "-o", path, "--format", "csv").want(t, 0)
	}
	for _, name := range []string{"report", "report.txt", "report.md"} {
		brokermark(t, "report", "--store", db, "-o", filepath.Join(dir, name)).want(t, 0)
	}
}

func TestReportsAndComparisonsAreWrittenAsSpreadsheets(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "records.db")
	stored(t, db)
	for name, args := range map[string][]string{
		"summary": {"report"}, "ledger": {"report", "ledger"}, "comparison": {"compare", "kafka", "jetstream"},
	} {
		path := filepath.Join(dir, name+".xlsx")
		brokermark(t, append(args, "--store", db, "-o", path)...).want(t, 0)
		if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), "PK") {
			t.Errorf("%s: %v, a file that begins with %.10q", name, err, data)
		}
		if says := brokermark(t, append(args, "--store", db, "--format", "xlsx")...).want(t, 2).err; !strings.Contains(says, "the format xlsx needs a file") {
			t.Errorf("%s on stdout: %s", name, says)
		}
	}
}
