package cli_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store/pgtest"
)

// withoutPassword is a database's URL with its password in the environment, where people put it.
func withoutPassword(t *testing.T, open string) (db, whole string) {
	t.Helper()
	u, err := url.Parse(open)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSWORD", pgtest.Password)
	u.User = url.User(u.User.Username())
	return u.String(), open
}

func TestATeamsDatabaseIsAStoreLikeAFileAndItsPasswordIsNeverPrinted(t *testing.T) {
	db, open := withoutPassword(t, pgtest.Database(t))
	file := filepath.Join(t.TempDir(), "s.db")
	wrong := strings.Replace(db, "team@", "stranger@", 1)
	var said []result
	did := func(code int, args ...string) result {
		r := brokermark(t, args...).want(t, code)
		said = append(said, r)
		return r
	}
	if said := did(2, "report", "--store", open).err; !strings.Contains(said, "PGPASSWORD") {
		t.Errorf("a password in an argument: %s", said)
	}
	did(6, "report", "--store", db)
	did(6, short("--store", wrong)...)
	if out := did(0, short("--store", db)...).out; !strings.Contains(out, "Stored in postgres://team@127.0.0.1:") {
		t.Errorf("summary:\n%s", out)
	}
	whole := db + "?sslmode=disable&connect_timeout=5" // which a shell would cut at the &
	if out := did(0, short("--store", whole)...).out; !strings.Contains(out, "more: brokermark report --store '"+whole+"'\n") {
		t.Errorf("the hint can't be copied:\n%s", out)
	}
	if again := did(0, short("--store", db)...); !strings.Contains(again.err, "(stored before)") {
		t.Errorf("the second run doesn't find the first:\n%s", again.err)
	}
	check := append([]string{"check"}, short("--store", db)[1:]...)
	if out := did(0, check...).out; !strings.Contains(out, "1 of them stored already in postgres://team@") {
		t.Errorf("check: %s", out)
	}
	did(6, append([]string{"check"}, short("--store", strings.Replace(db, "/bm", "/none", 1))[1:]...)...)
	did(0, short("--store", file)...)
	did(0, "report", "--store", db)
	if list := did(0, "export", "--store", db).objects(t); len(list) != 1 || list[0]["status"] != "ok" {
		t.Errorf("export: %v", list)
	}
	did(0, "compare", file, db+"?sslmode=disable")
	did(6, "compare", file, wrong)
	for _, r := range said {
		for _, secret := range []string{pgtest.Password, url.QueryEscape(pgtest.Password), url.PathEscape(pgtest.Password), "gehe"} {
			if strings.Contains(r.out+r.err, secret) {
				t.Errorf("the password is in:\n%s\n%s", r.out, r.err)
			}
		}
	}
}

func TestRecordsOfAFileAreImportedOnceEach(t *testing.T) {
	dir := t.TempDir()
	from, to, lines := filepath.Join(dir, "from.db"), filepath.Join(dir, "to.db"), filepath.Join(dir, "records.jsonl")
	brokermark(t, short("--store", from)...).want(t, 0)
	brokermark(t, "export", "--store", from, "--format", "jsonl", "-o", lines).want(t, 0)
	for _, says := range []string{"1 record stored, 0 there already", "0 records stored, 1 there already"} {
		if out := brokermark(t, "import", lines, "--store", to).want(t, 0).out; !strings.Contains(out, says) {
			t.Errorf("said %q, want %q", out, says)
		}
	}
	if list := brokermark(t, "export", "--store", to).want(t, 0).objects(t); len(list) != 1 || list[0]["status"] != "ok" {
		t.Errorf("imported: %v", list)
	}
	whole, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	for change, says := range map[string]string{
		`"status":"ok"=>"status":"fine"`:    `not a record: its status is "fine"; allowed: ok failed void refused aborted published`,
		`"status":"ok"=>"state":"ok"`:       `not a record: its status is ""`,
		`"broker":"sim"=>"broken":"sim"`:    `not a record: it has no spec.broker`,
		`"repetition":1=>"repetition":0`:    `not a record: its repetition is 0; allowed: 1 to 1000000`,
		`"point_id":=>"pointid":`:           `not a record: it has no point_id`,
		`"sent":=>"sent":-`:                 `not a record: its count sent is -`,
		`"publish_rate":=>"publish_rate":-`: `not a record: its publish_rate is -`,
	} {
		old, changed, _ := strings.Cut(change, "=>")
		text := strings.Replace(string(whole), old, changed, 1)
		if text == string(whole) {
			t.Fatalf("no %s in %.300s", old, whole)
		}
		write(t, filepath.Join(dir, "odd.jsonl"), text)
		if said := brokermark(t, "import", filepath.Join(dir, "odd.jsonl"), "--store", to).want(t, 2).err; !strings.Contains(said, "odd.jsonl:1: "+says) {
			t.Errorf("%s: said %q, want %q", change, said, says)
		}
	}
	write(t, filepath.Join(dir, "cut.jsonl"), "{\"schema\": 1\nx\n")
	if said := brokermark(t, "import", filepath.Join(dir, "cut.jsonl"), "--store", to).want(t, 2).err; !strings.Contains(said, "cut.jsonl:1: not a record") {
		t.Errorf("said %q", said)
	}
}
