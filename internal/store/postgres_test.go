package store

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store/pgtest"
)

// with changes a URL.
func with(t *testing.T, store string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func parameter(name, value string) func(u *url.URL) {
	return func(u *url.URL) {
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
	}
}

func TestAServerThatCantBeUsedIsASentenceWithoutThePassword(t *testing.T) {
	for _, c := range []struct {
		name    string
		sql     string
		url     func(u *url.URL)
		open    func(string) (*Store, error)
		problem Problem
		says    string
	}{
		{"no server listens", "", func(u *url.URL) { u.Host = "127.0.0.1:1" }, Open, Unreachable, "can't be reached at 127.0.0.1:1: could not read it: "},
		{"no such host", "", func(u *url.URL) { u.Host = "no-such-host.invalid" }, Open, Unreachable, "can't be reached at no-such-host.invalid:5432"},
		{"no such database", "", func(u *url.URL) { u.Path = "/none" }, Open, BadURL, `has no database "none": create it with createdb`},
		{"wrong password", "", func(u *url.URL) { u.User = url.UserPassword("team", pgtest.Password+"!") }, Open, Denied, `does not let user "team" in`},
		{"unknown user", "", func(u *url.URL) { u.User = url.UserPassword("nobody", pgtest.Password) }, Open, Denied, `does not let user "nobody" in`},
		{"empty, for a report", "", func(*url.URL) {}, OpenReadOnly, Missing, "holds nothing yet: run a study first"},
		{"another program's tables", "CREATE TABLE bookmarks (url TEXT)", func(*url.URL) {}, Open, Foreign, "is a database of something else: name another database, or a schema of its own with ?search_path=NAME"},
		{"a namesake", "CREATE TABLE brokermark_store (colour TEXT)", func(*url.URL) {}, Open, Foreign, "lacks a table or column of brokermark's"},
		{"two versions", "CREATE TABLE brokermark_store (layout INTEGER); INSERT INTO brokermark_store VALUES (1), (1)", func(*url.URL) {}, Open, Corrupt, "has 2 versions instead of one"},
		{"a store of another version", "CREATE TABLE brokermark_store (layout INTEGER); INSERT INTO brokermark_store VALUES (99)", func(*url.URL) {}, Open, Version, "was written by another version of brokermark (layout 99, this one has 2): read it with that one, or name another database"},
		{"no schema of that name", "", parameter("search_path", "nowhere"), Open, BadURL, "has no schema to create tables in"},
		{"a user who may only look", "CREATE ROLE reader LOGIN PASSWORD '" + pgtest.Password + "'", func(u *url.URL) { u.User = url.UserPassword("reader", pgtest.Password) }, Open, Denied, `does not let user "reader" create its tables`},
		{"read-only", "", parameter("default_transaction_read_only", "on"), Open, Denied, "is read-only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := pgtest.Database(t)
			if c.sql != "" {
				pgtest.Exec(t, base, c.sql)
			}
			store := with(t, base, c.url)
			s, err := c.open(store)
			if err == nil {
				_ = s.Close()
			}
			if ProblemOf(err) != c.problem || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got problem %q, %v; want %q and a sentence with %q", ProblemOf(err), err, c.problem, c.says)
			}
			withoutPassword(t, fmt.Sprint(err))
			if strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
}

func withoutPassword(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{pgtest.Password, url.QueryEscape(pgtest.Password), url.PathEscape(pgtest.Password), "gehe"} {
		if strings.Contains(text, secret) {
			t.Errorf("the password is in: %s", text)
		}
	}
}

func TestTheNameOfAStoreHoldsNoPassword(t *testing.T) {
	s, _ := places[1].store(t)
	withoutPassword(t, s.Name())
	if !strings.HasPrefix(s.Name(), "postgres://team:xxxxx@127.0.0.1:") {
		t.Errorf("name: %s", s.Name())
	}
	for given, want := range map[string]string{
		"postgres://db/x?password=secret&sslmode=disable": "postgres://db/x?password=xxxxx&sslmode=disable",
		"postgres://me:se/cret@db/x":                      "postgres://…",
		"results:2026.db":                                 "results:2026.db",
	} {
		if got := Printable(given); got != want {
			t.Errorf("Printable(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestAServerWithoutTLSIsToldNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	told := make(chan []byte, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		asked := make([]byte, 8) // the request for TLS
		_, _ = io.ReadFull(c, asked)
		_, _ = c.Write([]byte("N"))
		rest, _ := io.ReadAll(c)
		told <- rest
	}()
	_, err = Open("postgres://me:secret@" + l.Addr().String() + "/x?sslmode=require")
	if ProblemOf(err) != BadURL || !strings.Contains(err.Error(), "its server has no TLS; end its URL with sslmode=disable to do without") {
		t.Errorf("%v", err)
	}
	if rest := <-told; len(rest) > 0 {
		t.Errorf("it was told %q", rest)
	}
}

func TestStoresInSchemasOfTheirOwnShareADatabase(t *testing.T) {
	base := pgtest.Database(t)
	pgtest.Exec(t, base, `CREATE TABLE bookmarks (url TEXT); CREATE SCHEMA a; CREATE SCHEMA b`)
	for _, schema := range []string{"a", "b"} {
		url := with(t, base, parameter("search_path", schema))
		s, err := Open(url)
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, Record{PointID: schema})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := pointIDs(t, url); len(got) != 1 || got[0] != schema {
			t.Errorf("schema %s holds %v", schema, got)
		}
	}
}

func TestAServerThatDroppedTheConnectionBetweenTwoAppendsLosesNothing(t *testing.T) {
	s, url := places[1].store(t)
	mustAppend(t, s, Record{PointID: "before"})
	pgtest.Exec(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	mustAppend(t, s, Record{PointID: "after"})
	if got := pointIDs(t, url); strings.Join(got, " ") != "before after" {
		t.Errorf("stored: %v", got)
	}
}

func TestALockedTableIsReportedAndRecovers(t *testing.T) {
	url := places[1].fresh(t)
	s, err := open(t.Context(), url, appending, defaultPatience)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.backend.insert, s.patience = `SET LOCAL lock_timeout = 50`, 50*time.Millisecond
	other, err := Open(url)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`LOCK TABLE record`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), Record{PointID: "p"}); ProblemOf(err) != Locked || !strings.Contains(err.Error(), "is locked by another session: could not append repetition 0 of point p (waited 50ms)") {
		t.Errorf("got %v, want Locked", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, Record{PointID: "p"})
}

func TestAnAppendIsOnTheDiskWhateverTheServersDefault(t *testing.T) {
	base := pgtest.Database(t)
	s, err := Open(with(t, base, parameter("synchronous_commit", "off")))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pgtest.Exec(t, base, `CREATE TABLE seen (setting TEXT);
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;
		CREATE TRIGGER note AFTER INSERT ON record FOR EACH ROW EXECUTE FUNCTION note()`)
	mustAppend(t, s, Record{PointID: "p"})
	if got, err := column[string](t.Context(), s.db, `SELECT setting FROM seen`); err != nil || len(got) != 1 || got[0] != "on" {
		t.Errorf("synchronous_commit during the append: %v, %v; want on", got, err)
	}
}

func TestTextsThatADatabaseCantKeepDontCostTheRecord(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		odd := "a\x00b\xff"
		mustAppend(t, s, Record{PointID: "p", Study: odd, Reason: "zero \x00"})
		got, err := s.Records(t.Context(), Filter{Study: odd})
		if err != nil || len(got) != 1 || got[0].Reason != "zero \x00" {
			t.Errorf("%d records %+v, %v", len(got), got, err)
		}
	})
}

func TestAUserWhoMayNotAppendIsToldBeforeTheFirstRecord(t *testing.T) {
	base := pgtest.Database(t)
	s, err := Open(base)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	pgtest.Exec(t, base, "CREATE ROLE looker LOGIN PASSWORD '"+pgtest.Password+"'; GRANT SELECT ON record, brokermark_store TO looker")
	for says, change := range map[string]func(*url.URL){
		`does not let user "looker" open it for appending`: func(u *url.URL) { u.User = url.UserPassword("looker", pgtest.Password) },
		"is read-only, as a standby server is":             parameter("default_transaction_read_only", "on"),
	} {
		store := with(t, base, change)
		s, err := Open(store)
		if err == nil {
			_ = s.Close()
		}
		if ProblemOf(err) != Denied || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("got problem %q, %v; want a sentence with %q", ProblemOf(err), err, says)
		}
		if s, err := OpenReadOnly(store); err != nil {
			t.Errorf("it may be read, and yet: %v", err)
		} else {
			_ = s.Close()
		}
	}
}
