package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAFilterSelectsWhatAllItsTermsSelect(t *testing.T) {
	s, _ := newStore(t)
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []Record
	for i := range 60 {
		r := Record{
			PointID: fmt.Sprint("p", i%7), Study: fmt.Sprint("s", i%3), Status: []Status{OK, Failed, Void, Refused, Aborted}[i%5],
			Began: began, Repetition: i,
		}
		mustAppend(t, s, r)
		all = append(all, r)
	}
	testkit.Check(t, func(t *rapid.T) {
		f := Filter{
			Study:    rapid.SampledFrom([]string{"", "s0", "s1", "none"}).Draw(t, "study"),
			PointIDs: rapid.SliceOfN(rapid.SampledFrom([]string{"p0", "p1", "p6", "none"}), 0, 3).Draw(t, "points"),
			Statuses: rapid.SliceOfN(rapid.SampledFrom([]Status{OK, Failed, Void, Refused, Aborted}), 0, 3).Draw(t, "statuses"),
		}
		var want, got []int
		for _, r := range all {
			if (f.Study == "" || r.Study == f.Study) && (len(f.PointIDs) == 0 || slices.Contains(f.PointIDs, r.PointID)) &&
				(len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) {
				want = append(want, r.Repetition)
			}
		}
		for r, err := range s.Each(context.Background(), f) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Repetition)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v selects %v, want %v", f, got, want)
		}
	})
}

func TestRecordsComeInOrderAcrossBatchesUpToTheDamagedOne(t *testing.T) {
	for _, n := range []int{batchSize - 1, batchSize, batchSize + 1, 2*batchSize + 3} {
		s, _ := newStore(t)
		tx, err := s.db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if _, err := tx.Exec(`INSERT INTO record (point_id, study, broker, repetition, status, began, schema, body) VALUES ('p', 's', '', $1, 'ok', 0, 1, $2)`, i, fmt.Sprintf(`{"repetition":%d}`, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		read := func(most int) (got []int, err error) {
			for r, failed := range s.Each(t.Context(), Filter{}) {
				if failed != nil {
					return got, failed
				}
				if got = append(got, r.Repetition); len(got) == most {
					break
				}
			}
			return got, nil
		}
		inOrder := func(got []int) bool { return slices.IsSorted(got) && (len(got) == 0 || got[0] == 0) }
		if got, err := read(n + 1); err != nil || len(got) != n || !inOrder(got) {
			t.Errorf("%d of %d records in the order %v: %v", len(got), n, got, err)
		}
		if got, err := read(5); err != nil || len(got) != 5 || !inOrder(got) {
			t.Errorf("the first five of %d are %v: %v", n, got, err)
		}
		if _, err := s.db.Exec(`UPDATE record SET body = '{' WHERE repetition = $1`, n-2); err != nil {
			t.Fatal(err)
		}
		if got, err := read(n + 1); ProblemOf(err) != Corrupt || len(got) != n-2 || !inOrder(got) {
			t.Errorf("%d of %d records before the damaged one: %v", len(got), n, err)
		}
	}
}

func TestAnInterruptedOperationIsAnErrorAndLeavesNoRecord(t *testing.T) {
	s, path := newStore(t)
	mustAppend(t, s, Record{PointID: "p"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"append repetition 2 of point q": second(s.Append(ctx, Record{PointID: "q", Repetition: 2})),
		"read its records":               second(s.Records(ctx, Filter{})),
		"read its records ":              second(s.Done(ctx, []string{"p"})),
	} {
		if ProblemOf(err) != Other || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "store "+path+" could not "+strings.TrimSpace(what)+": ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := pointIDs(t, path); !slices.Equal(got, []string{"p"}) {
		t.Errorf("stored: %v", got)
	}
	if _, err := s.Append(t.Context(), Record{PointID: "p", Settings: Settings{Server: map[string]any{"a": make(chan int)}}}); err == nil || ProblemOf(err) != "" ||
		!strings.HasPrefix(err.Error(), "record of p, repetition 0, can't be written as JSON: ") {
		t.Errorf("a value that JSON doesn't have: %v", err)
	}
}

func TestAReadThatIsInterruptedInBetweenIsNoWholeRead(t *testing.T) {
	s, _ := newStore(t)
	tx, err := s.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	const n = 3 * batchSize
	for range n {
		if _, err := tx.Exec(`INSERT INTO record (point_id, study, broker, repetition, status, began, schema, body) VALUES ('p', 's', '', 1, 'ok', 0, 1, '{}')`); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, failed := 0, error(nil)
	for _, err := range s.Each(ctx, Filter{}) {
		if failed = err; err == nil {
			read++
		}
		cancel()
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(failed, context.Canceled) || read == 0 || read == n {
		t.Errorf("%d of %d records: %v", read, n, failed)
	}
}

func TestADatabasesOwnWordsEndTheSentence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	writes(strings.Repeat("messages,rate\n", 100))(t, path)
	if _, err := Open(path); ProblemOf(err) != Foreign || errors.Unwrap(err) == nil || !strings.HasSuffix(err.Error(), ": "+errors.Unwrap(err).Error()) {
		t.Errorf("a text file: %v", err)
	}
	s, _ := newStore(t)
	s.db.SetMaxOpenConns(1)
	if _, err := s.db.Exec(`PRAGMA max_page_count = 20`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), Record{Reason: strings.Repeat("x", 1<<20)}); ProblemOf(err) != Full || errors.Unwrap(err) == nil {
		t.Errorf("a full store: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAMissingFileIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writes("")(t, file)
	for path, want := range map[string]string{
		os.DevNull: "is no ordinary file", file + "/s.db": "could not open it: stat ", filepath.Dir(file): "is a directory",
		filepath.Join(filepath.Dir(file), "none/s.db"): "lies in a folder that does not exist",
	} {
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), "store "+path+" "+want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	s, err := Open("sqlite://" + file + ".db")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Stat(file + ".db"); err != nil || s.Name() != "sqlite://"+file+".db" {
		t.Errorf("%s: %v", s.Name(), err)
	}
	reader, err := OpenReadOnly(file + ".db")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	err = reader.transact(t.Context(), "write", func(ctx context.Context, tx *sql.Tx) error {
		_, err := insert(ctx, tx, []row{{body: "{}"}})
		return err
	})
	if !strings.Contains(fmt.Sprint(err), "can't be opened for that by this user: could not write") {
		t.Errorf("SQLite itself lets a reader write: %v", err)
	}
}

func TestURLsAreToldFromPathsAndPrintedWithoutSecrets(t *testing.T) {
	for store, want := range map[string]bool{"a.db": false, "sqlite:a.db": true, "postgres://x": true, "postgresql://x/y": true, "results:a.db": false, "postgres": false, "": false} {
		if got := IsURL(store); got != want {
			t.Errorf("%q is a URL: %v", store, got)
		}
	}
	for store, want := range map[string]string{
		"a.db": "a.db", "postgres://u:p@h/d?sslpassword=x&password=y": "postgres://u:xxxxx@h/d?password=xxxxx&sslpassword=xxxxx", "postgresql://h/d": "postgresql://h/d",
		"postgres://h/d?b=1&a=2": "postgres://h/d?b=1&a=2",
	} {
		if got := Printable(store); got != want {
			t.Errorf("%q is printed as %q, want %q", store, got, want)
		}
	}
	for store, says := range map[string]string{"ftp://h/d": `unknown scheme "ftp"`, "sqlite:": "names no file"} {
		if _, _, err := choose(store); ProblemOf(err) != BadURL || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", store, err, says)
		}
	}
}

func TestAServersCodesAreSaidAsWhatTheyMean(t *testing.T) {
	config := &pgx.ConnConfig{Config: pgconn.Config{Host: "h", Port: 7, User: "u", Database: "d"}}
	for code, want := range map[string]struct {
		problem Problem
		says    string
	}{
		"28P01": {Denied, `does not let user "u" in`}, "28000": {Denied, `does not let user "u" in`}, "3D000": {BadURL, `has no database "d"`},
		"3F000": {BadURL, "has no schema"}, "42501": {Denied, `does not let user "u" do it`}, "25006": {Denied, "is read-only"}, "55P03": {Locked, "is locked"},
		"53100": {Full, "has no room left: could not do it; earlier records are intact"}, "53200": {Full, "has no room left"}, "53300": {Unreachable, "takes no connection now: could not do it"},
		"57P01": {Unreachable, "takes no connection"}, "08006": {Unreachable, "takes no connection"}, "XX001": {Corrupt, "is damaged"},
		"42P01": {Foreign, "lacks a table"}, "42703": {Foreign, "lacks a table"}, "40001": {Other, "could not do it"}, "57014": {Other, "could not do it"},
	} {
		got := diagnosePostgres(config, fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code, Message: "m"}), "do it")
		if got.problem != want.problem || !strings.HasPrefix(got.detail, want.says) || got.cause == nil || got.cause.Error() != "m" {
			t.Errorf("%s: %s, %q, %v; want %s, %q", code, got.problem, got.detail, got.cause, want.problem, want.says)
		}
	}
	got := diagnosePostgres(config, fmt.Errorf("a\nb: %w\n", context.DeadlineExceeded), "do it")
	if got.problem != Unreachable || got.detail != "can't be reached at h:7: could not do it" || got.cause.Error() != "b: context deadline exceeded" {
		t.Errorf("%s, %q, %v", got.problem, got.detail, got.cause)
	}
	if got := diagnosePostgres(config, errors.New("x"), "do it"); got != (diagnosis{}) {
		t.Errorf("of an error from elsewhere: %+v", got)
	}
}

// A closed database can't begin a transaction; what that means is the backend's to say.
func TestATransactionWaitsForAServerThatIsAwayButNotForever(t *testing.T) {
	s, _ := newStore(t)
	_ = s.db.Close()
	asked, answer := 0, Unreachable
	s.backend = &backend{unguard: func() {}, diagnose: func(err error, _ string) diagnosis { asked++; return diagnosis{answer, "away", err} }}
	s.patience = 250 * time.Millisecond
	began := time.Now()
	if _, err := s.begin(t.Context()); err == nil || time.Since(began) < s.patience || asked < 3 || asked > 5 {
		t.Errorf("after %v and %d attempts: %v", time.Since(began), asked, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	s.patience = time.Hour
	if _, err := s.begin(ctx); err == nil {
		t.Error("began on a closed database")
	}
	asked, answer = 0, Other
	if _, err := s.begin(t.Context()); err == nil || asked != 1 {
		t.Errorf("%d attempts of what waiting doesn't help: %v", asked, err)
	}
}

func TestASwitchToTheLogWaitsForWhoHoldsTheFile(t *testing.T) {
	url := places[0].fresh(t)
	places[0].exec(t, url, `CREATE TABLE x (y)`)
	hold, err := sqliteFile(url).open(appending, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	waiting, err := sqliteFile(url).open(appending, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	lock, err := hold.Begin()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := enableWAL(t.Context(), waiting, 100*time.Millisecond); err == nil || time.Since(began) < 90*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = lock.Rollback() })
	if err := enableWAL(t.Context(), waiting, 10*time.Second); err != nil {
		t.Errorf("when the file is free again: %v", err)
	}
}

func TestACostIsPerMillionMessages(t *testing.T) {
	if got := (Cost{Messages: 4_000_000}).PerMillion(8); got != 2 {
		t.Errorf("8 s for 4 million messages are %v s per million", got)
	}
	if got := (Cost{}).PerMillion(8); !math.IsNaN(got) {
		t.Errorf("8 s for nothing are %v s per million", got)
	}
}
