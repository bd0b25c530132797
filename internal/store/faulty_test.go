package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

var errPower = errors.New("the disk went away")

// faulty is SQLite of which one operation fails: the one before which left falls to zero.
type faulty struct {
	path string
	left int
}

func (f *faulty) strike() error {
	if f.left--; f.left == 0 {
		return errPower
	}
	return nil
}

func (f *faulty) Driver() driver.Driver { return &sqlite.Driver{} }

func (f *faulty) Connect(context.Context) (driver.Conn, error) {
	c, err := f.Driver().Open("file:" + f.path + "?_txlock=immediate&_pragma=busy_timeout(1000)")
	return &faultyConn{c, f}, err
}

type faultyConn struct {
	driver.Conn
	f *faulty
}

func (c *faultyConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.f.strike(); err != nil {
		return nil, err
	}
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return &faultyTx{tx, c.f}, err
}

func (c *faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.f.strike(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.f.strike(); err != nil {
		return nil, err
	}
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	return &faultyRows{rows, c.f}, err
}

type faultyTx struct {
	driver.Tx
	f *faulty
}

func (t *faultyTx) Commit() error {
	if err := t.f.strike(); err != nil {
		return errors.Join(err, t.Tx.Rollback())
	}
	return t.Tx.Commit()
}

type faultyRows struct {
	driver.Rows
	f *faulty
}

func (r *faultyRows) Next(to []driver.Value) error {
	if err := r.f.strike(); err != nil {
		return err
	}
	return r.Rows.Next(to)
}

// use opens a store on a faulty database, appends a record and reads everything back, up to the first error.
func (f *faulty) use() (id int64, records []Record, done map[string]map[int]Status, err error) {
	b := *sqliteFile(f.path)
	b.open = func(access, time.Duration) (*sql.DB, error) { return sql.OpenDB(f), nil }
	b.lock, b.insert = `SELECT 'lock'`, `SELECT 'insert'` // where other databases have something to say
	s := &Store{name: f.path, backend: &b, access: appending, patience: 100 * time.Millisecond}
	if s.db, err = b.open(s.access, s.patience); err != nil {
		return 0, nil, nil, err
	}
	defer s.db.Close()
	if err = s.prepare(context.Background()); err != nil {
		return 0, nil, nil, err
	}
	if id, err = s.Append(context.Background(), Record{PointID: "second", Repetition: 2, Status: OK}); err != nil {
		return id, nil, nil, err
	}
	if records, err = s.Records(context.Background(), Filter{}); err != nil {
		return id, records, nil, err
	}
	if done, err = s.Done(context.Background(), []string{"first", "second"}); err != nil {
		return id, nil, done, err
	}
	return id, records, done, nil
}

// Whichever operation of the database fails, that is said, nothing is stored by halves, and the store can be used on.
func TestWhateverFailsIsSaidAndLeavesAWholeStore(t *testing.T) {
	for _, older := range []bool{false, true} { // a new file, and a store with a record
		failures := 0
		for n := 1; ; n++ {
			if n > 200 {
				t.Fatal("there is no end of failures")
			}
			path := filepath.Join(t.TempDir(), "s.db")
			var want []string
			if older {
				s, err := Open(path)
				if err != nil {
					t.Fatal(err)
				}
				mustAppend(t, s, Record{PointID: "first", Repetition: 1, Status: OK})
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				want = []string{"first"}
			}
			f := &faulty{path: path, left: n}
			id, records, done, err := f.use()
			if f.left > 0 { // as many operations as that there aren't
				want = append(want, "second")
				if err != nil || id != int64(len(want)) || len(records) != len(want) || len(done) != len(want) || done["second"][2] != OK {
					t.Fatalf("nothing failed: record %d, %d records, done %v, %v", id, len(records), done, err)
				}
				break
			}
			failures++
			var about *Error
			if !errors.Is(err, errPower) || !errors.As(err, &about) || about.Problem != Other || about.Store != path || !strings.HasPrefix(about.Detail, "could not ") {
				t.Fatalf("operation %d failed: %v", n, err)
			}
			if records != nil || done != nil || strings.Contains(about.Detail, "append") && id != 0 {
				t.Fatalf("operation %d failed (%v), and there are a record %d, %d records and %v", n, err, id, len(records), done)
			}
			s, err := Open(path)
			if err != nil {
				t.Fatalf("after operation %d failed: %v", n, err)
			}
			if id != 0 { // what failed was reading
				want = append(want, "second")
			}
			mustAppend(t, s, Record{PointID: "third"})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := pointIDs(t, path); !slices.Equal(got, append(want, "third")) {
				t.Fatalf("after operation %d failed (%v) the store holds %v", n, about, got)
			}
		}
		if failures < 15 {
			t.Errorf("only %d operations were tried", failures)
		}
	}
}

func TestWhatSQLiteSaysIsKeptAsTheCause(t *testing.T) {
	s, path := newStore(t)
	reader, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	_, nonsense := s.db.Exec(`SELECT nonsense`)
	_, twice := s.db.Exec(`INSERT INTO brokermark_store (layout) VALUES (2)`)
	_, denied := reader.db.Exec(`DELETE FROM record`)
	for _, c := range []struct {
		err  error
		says string
	}{
		{nonsense, "could not do it: "},
		{twice, "could not do it: "},
		{denied, "can't be opened for that by this user: could not do it: "},
	} {
		var cause *sqlite.Error
		got := s.explain(c.err, "do it")
		if ProblemOf(got) != Other || !errors.As(got, &cause) || !errors.Is(got, c.err) || got.Error() != "store "+path+" "+c.says+c.err.Error() {
			t.Errorf("%v is told as %v", c.err, got)
		}
	}
}

func TestADamagedOrLockedFileNamesItsCause(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	damaged(t, path)
	if err := useStore(OpenReadOnly, path); ProblemOf(err) != Corrupt || errors.Unwrap(err) == nil {
		t.Errorf("damaged: %v", err)
	}
	s, locked := newStore(t)
	s.db.SetMaxOpenConns(1) // the timeout holds per connection
	if _, err := s.db.Exec(`PRAGMA busy_timeout = 10`); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", locked+"?_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if id, err := s.Append(t.Context(), Record{}); ProblemOf(err) != Locked || errors.Unwrap(err) == nil || id != 0 {
		t.Errorf("locked: record %d, %v", id, err)
	}
}

func TestAStoreWithoutOneVersionIsDamaged(t *testing.T) {
	for n, change := range map[int]string{0: `DELETE FROM brokermark_store`, 2: `INSERT INTO brokermark_store (layout) VALUES (7)`} {
		path := filepath.Join(t.TempDir(), "s.db")
		closedStore(t, path)
		executes(change)(t, path)
		for _, open := range []func(string) (*Store, error){Open, OpenReadOnly} {
			if err := useStore(open, path); ProblemOf(err) != Corrupt || !strings.Contains(err.Error(), fmt.Sprintf("it has %d versions instead of one", n)) {
				t.Errorf("%d versions: %v", n, err)
			}
		}
	}
}

func TestAFolderThatMayNotBeReadIsNoMissingFile(t *testing.T) {
	if os.Geteuid() == 0 {
		testkit.Without(t, "root may read every folder")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(filepath.Join(dir, "s.db")); ProblemOf(err) != Other || !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestAStoreThatMayNotBeWrittenIsRefusedBeforeTheFirstRecord(t *testing.T) {
	if os.Geteuid() == 0 {
		testkit.Without(t, "root may write everything")
	}
	for _, c := range []struct {
		made         bool
		file, folder os.FileMode
		says         string
	}{
		{true, 0o444, 0o755, "can't be written by this user"},
		{true, 0o644, 0o555, "can't be opened: this user may not make files beside it, in "},
		{false, 0, 0o555, "can't be made: this user may not make files in "},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.db")
		if c.made {
			closedStore(t, path)
			if err := os.Chmod(path, c.file); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, c.folder); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o755)
		_, opened := Open(path)
		for _, err := range []error{opened, Appendable(path)} {
			if ProblemOf(err) != Other || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		}
		if left, _ := filepath.Glob(path + "-*"); left != nil {
			t.Errorf("%v is left", left)
		}
	}
}

// Every word of a spec that a promise hangs on reaches the ledger's judgement.
func TestAPromiseIsThatOfTheWholeSpec(t *testing.T) {
	strict := study.Spec{Delivery: "exactly-once", Persistence: "log", Ordering: "ordered"}
	memory := strict
	memory.Persistence, memory.Faults = "memory", []study.Fault{{Do: "pause"}, {Do: "kill"}}
	lenient := strict
	lenient.Delivery = "at-least-once"
	unordered := strict
	unordered.Ordering = "unordered"
	leader := lenient
	leader.Acks, leader.Replicas, leader.Faults = "leader", 3, []study.Fault{{Do: "kill", Node: "leader"}}
	part := leader
	part.Pipeline, part.Faults = &study.Pipeline{}, []study.Fault{{Do: "kill", Node: "consumer"}}
	if got := Promise(leader, false, Books{Sent: 9, Acked: 9, LostAcked: 1}).Promise; got != ledger.Broken {
		t.Errorf("lost by a leader that comes back: %v", got)
	}
	for _, c := range []struct {
		spec  study.Spec
		books Books
		want  ledger.Promise
	}{
		{leader, Books{Sent: 9, Acked: 9, LostAcked: 1}, ledger.NoneMade},
		{part, Books{Sent: 9, Acked: 9, LostAcked: 1}, ledger.Broken},
		{strict, Books{Sent: 9, Acked: 9}, ledger.Kept},
		{strict, Books{Sent: 9, Acked: 9, LostAcked: 1}, ledger.Broken},
		{memory, Books{Sent: 9, Acked: 9, LostAcked: 1}, ledger.NoneMade},
		{strict, Books{Sent: 9, Acked: 9, Duplicated: 1}, ledger.Broken},
		{lenient, Books{Sent: 9, Acked: 9, Duplicated: 1}, ledger.Kept},
		{strict, Books{Sent: 9, Acked: 9, Reordered: 1}, ledger.Broken},
		{unordered, Books{Sent: 9, Acked: 9, Reordered: 1}, ledger.Kept},
	} {
		if got := Promise(c.spec, true, c.books).Promise; got != c.want {
			t.Errorf("%+v with %+v: %v, want %v", c.spec, c.books, got, c.want)
		}
	}
}
