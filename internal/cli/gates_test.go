package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

func TestAThresholdDecidesAboutTheExitCodeAndJUnitTellsWhy(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		code int
		args []string
		says string // on stderr
		xml  string
	}{
		{"within", 0, short("--fail-if", "received < 200", "--fail-if", "lost > 0%"), "gate received < 200: passed 1\n  passed   sim, 100 B, at-least-once, count: 200 (n=1)\ngate lost > 0%: passed 1", `tests="3" failures="0" skipped="0"`},
		{"beyond", 7, short("--fail-if", "received < 201"), "gate received < 201: failed 1\n  failed   sim, 100 B, at-least-once, count: 200 (n=1)\nbrokermark: 1 failure of --fail-if: see above\n", `<failure message="200 (n=1)" type="received &lt; 201">`},
		{"of what failed", 4, short("--set", "client.fail.every=2", "--fail-if", "acked < 0"), "gate acked < 0: failed 1\n  failed   sim, 100 B, at-least-once, client.fail.every 2, count: failed: 100 of 200 sends failed", `failures="2"`},
		{"of what was refused", 2, short("--delivery", "exactly-once", "--fail-if", "acked < 0"), "gate acked < 0: failed 1, skipped 1", `<skipped message="refused: `},
		{"without thresholds", 0, short(), "", `tests="1" failures="0"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name+".db")
			junit := filepath.Join(dir, c.name+".xml")
			r := brokermark(t, append(c.args, "--store", path, "--junit", junit, "--format", "jsonl")...).want(t, c.code)
			if !strings.Contains(r.err, c.says) {
				t.Errorf("no %q on stderr:\n%s", c.says, r.err)
			}
			if len(r.objects(t)) != 1 {
				t.Errorf("stdout: %s", r.out)
			}
			xml, err := os.ReadFile(junit)
			if err != nil || !strings.Contains(string(xml), c.xml) {
				t.Errorf("%v, no %q in:\n%s", err, c.xml, xml)
			}
		})
	}
}

func TestOnlyWhatThisRunAskedForIsJudged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	brokermark(t, short("--store", path, "--set", "client.fail.every=2")...).want(t, 4)
	brokermark(t, short("--store", path)...).want(t, 0)
	r := brokermark(t, short("--store", path, "--fail-if", "received < 200")...).want(t, 0)
	if !strings.Contains(r.err, "(stored before)") || !strings.Contains(r.err, "gate received < 200: passed 1\n") {
		t.Errorf("what was stored before isn't judged, or too much is:\n%s", r.err)
	}
}

func TestReportsAndComparisonsHaveGatesToo(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	brokermark(t, short("--store", a)...).want(t, 0)
	brokermark(t, short("--store", b, "--set", "subscriptionsPerTopic=2")...).want(t, 0)
	for _, c := range []struct {
		code int
		args []string
		says string
	}{
		{0, []string{"report", "--store", a, "--fail-if", "received < 200"}, "gate received < 200: passed 1\n"},
		{7, []string{"report", "points", "--store", a, "--format", "csv", "--fail-if", "received < 200", "--fail-if", "drain_rate < 1"}, "gate received < 200: passed 1\n  passed   sim, 100 B, at-least-once, count: 200 (n=1)\ngate drain_rate < 1: failed 1, skipped 1\n"},
		{0, []string{"compare", a, b, "--fail-if", "received > 100%"}, "gate received > 100%: passed 1\n"},
		{7, []string{"compare", a, b, "--fail-if", "received > 99%"}, "  failed   sim, 100 B, at-least-once, 1 subscription against 2 subscriptions, count: +100 %, 200 (n=1) to 400 (n=1)\n"},
		{7, []string{"compare", a, b, "--fail-if", "total > -99%"}, "; one run each decides nothing: it takes 3 each\n"},
		{2, []string{"compare", a, b, "--fail-if", "received > 49"}, `brokermark: --fail-if: "49" is no change; allowed: a percentage`},
		{2, []string{"report", "--store", a, "--fail-if", "e2e_p98 > 1ms"}, "brokermark: --fail-if: unknown metric \"e2e_p98\"; closest: e2e_p90, e2e_p95, e2e_p99\n" + "hint: brokermark list metrics shows all\n"},
		{2, []string{"report", "--store", a, "--junit", filepath.Join(dir, "none", "x.xml")}, "brokermark: --junit: "},
		{2, append(short("--store", a), "--watch", "host"), `brokermark: --watch: "host" is no address; allowed: HOST:PORT or PORT, such as 9464 or 127.0.0.1:9464`},
		{2, append(short("--store", a), "--metrics", "192.0.2.1:80"), "brokermark: --metrics 192.0.2.1:80: that address can be reached from other machines: a token is needed (--watch-token-env)"},
	} {
		if r := brokermark(t, c.args...).want(t, c.code); !strings.Contains(r.err, c.says) {
			t.Errorf("%v: no %q on stderr:\n%s", c.args, c.says, r.err)
		}
	}
}

func TestGatesStandInPageAndSpreadsheet(t *testing.T) {
	dir := t.TempDir()
	db, page, book := filepath.Join(dir, "s.db"), filepath.Join(dir, "r.html"), filepath.Join(dir, "r.xlsx")
	brokermark(t, short("--store", db)...).want(t, 0)
	for _, file := range []string{page, book} {
		brokermark(t, "report", "--store", db, "-o", file, "--fail-if", "lost > 0", "--fail-if", "total > 0s").want(t, 7)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Gates: failed", "total &gt; 0s", "lost &gt; 0"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	f, err := excelize.OpenFile(book)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if sheets := f.GetSheetList(); !slices.Equal(sheets, []string{"Summary", "Head to head", "Repetitions"}) {
		t.Errorf("sheets %q", sheets)
	}
	rows, err := f.GetRows("Summary")
	if err != nil || len(rows) < 5 {
		t.Fatalf("%q, %v", rows, err)
	}
	gates := rows[len(rows)-2:]
	if gates[0][0] != "failed" || gates[0][1] != "total > 0s" || gates[1][0] != "passed" || gates[1][1] != "lost > 0" {
		t.Errorf("%q", rows)
	}
	brokermark(t, "report", "--store", db, "-o", page).want(t, 0)
	if html, err = os.ReadFile(page); err != nil || strings.Contains(string(html), "Gates:") {
		t.Errorf("a page without gates speaks of them, %v", err)
	}
}
