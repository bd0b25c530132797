package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// defaultPatience is how long an operation waits for another process to release the store, or for a server that restarts.
const defaultPatience = 10 * time.Second

// Store is an open store: a table of records in a SQLite file or a PostgreSQL database. Goroutines may share it, and several
// processes may have the same store open and append to it.
//
//	s, err := store.Open("results.db")
//	id, err := s.Append(ctx, record)
//	records, err := s.Records(ctx, store.Filter{Study: "quick"})
type Store struct {
	name     string // path or URL as given, without a password
	backend  *backend
	db       *sql.DB
	access   access
	patience time.Duration
}

// access is the purpose that a store is opened for.
type access string

const (
	appending access = "append" // and reading
	reading   access = "read"
)

// Open opens the store at url for appending and reading, and creates it when nothing is there. url is the path of a
// SQLite file, optionally written sqlite:path, or the URL of a PostgreSQL database, in which the store takes the current
// schema. Every failure is an *Error, which never holds a password.
func Open(url string) (*Store, error) { return OpenContext(context.Background(), url) }

// OpenContext is Open with a context that can end the attempt.
func OpenContext(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, appending, defaultPatience)
}

// Appendable returns why Open would fail, as far as that can be told without making or changing anything.
func Appendable(url string) error {
	b, _, err := choose(url)
	if err != nil {
		return err
	}
	return b.appendable()
}

// OpenReadOnly opens an existing store for reading. It never creates a store, so a mistyped path is the error Missing and not an
// empty report.
func OpenReadOnly(url string) (*Store, error) { return OpenReadOnlyContext(context.Background(), url) }

// OpenReadOnlyContext is OpenReadOnly with a context that can end the attempt.
func OpenReadOnlyContext(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, reading, defaultPatience)
}

func open(ctx context.Context, url string, mode access, patience time.Duration) (*Store, error) {
	b, name, err := choose(url)
	if err != nil {
		return nil, err
	}
	s := &Store{name: name, backend: b, access: mode, patience: patience}
	if s.db, err = b.open(mode, patience); err != nil {
		return nil, s.explain(err, "open it")
	}
	limited, cancel := s.bounded(ctx)
	defer cancel()
	err = s.prepare(limited)
	if mode == reading && (ProblemOf(err) == Full || mayNotWriteBeside(err)) {
		err = s.reopenFrozen(limited, err)
	}
	if err == nil {
		return s, nil
	}
	s.abandon()
	if mode == reading {
		s.backend.tidy()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// reopenFrozen opens the store for reading without writing any file, after the usual way failed with openErr. It returns openErr
// if it would miss records.
func (s *Store) reopenFrozen(ctx context.Context, openErr error) error {
	s.abandon()
	db, err := s.backend.openFrozen()
	if err != nil {
		return s.explain(err, "read it")
	}
	if db == nil {
		return openErr
	}
	s.db = db
	return s.prepare(ctx)
}

// abandon closes a store whose opening failed, and removes the files that the attempt left.
func (s *Store) abandon() {
	_ = s.db.Close()
	s.backend.abandon()
}

// bounded limits an operation to twice the store's patience: a database that never answers must not block the program.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*s.patience)
}

// Name returns the store's path or URL without its password.
func (s *Store) Name() string { return s.name }

// Close releases the store.
func (s *Store) Close() error {
	err := s.explain(s.db.Close(), "close it")
	if s.access == reading {
		s.backend.tidy()
	}
	return err
}

// Append adds r in one durable transaction and returns the ID it was given; r.ID and r.Schema are ignored. Once it
// returns nil, the record survives a crash of the machine. If ctx ends earlier, the record is not stored: a caller that must not
// lose a finished record passes a context that no interrupt cancels.
func (s *Store) Append(ctx context.Context, r Record) (id int64, err error) {
	id, _, err = s.append(ctx, r, func(context.Context, *sql.Tx, Record) (bool, error) { return false, nil })
	return id, err
}

// AppendOnce appends r unless the store holds it already, which existed reports. So a caller may repeat an append whose answer was
// lost.
func (s *Store) AppendOnce(ctx context.Context, r Record) (existed bool, err error) {
	_, existed, err = s.append(ctx, r, contains)
	return existed, err
}

// append inserts r in a transaction unless there says that the store holds it.
func (s *Store) append(ctx context.Context, r Record, there func(context.Context, *sql.Tx, Record) (bool, error)) (id int64, existed bool, err error) {
	action := fmt.Sprintf("append repetition %d of point %s", r.Repetition, r.PointID)
	if s.access == reading {
		return 0, false, &Error{Problem: Other, Store: s.name, Detail: "was opened for reading only: could not " + action}
	}
	body, err := encode(r)
	if err != nil {
		return 0, false, err
	}
	err = s.transact(ctx, action, func(ctx context.Context, tx *sql.Tx) (err error) {
		if err := execAll(ctx, tx, s.backend.insert); err != nil {
			return err
		}
		if existed, err = there(ctx, tx, r); err == nil && !existed {
			id, err = insert(ctx, tx, r, string(body))
		}
		return err
	})
	if err != nil { // the transaction was not committed
		return 0, false, err
	}
	return id, existed, nil
}

// contains reports whether the store holds r: a record of the same repetition of the same point that began at the same nanosecond
// and ended with the same status.
func contains(ctx context.Context, tx *sql.Tx, r Record) (bool, error) {
	const count = `SELECT COUNT(*) FROM record WHERE point_id = $1 AND repetition = $2 AND status = $3 AND began = $4`
	var same int
	err := tx.QueryRowContext(ctx, count, r.PointID, r.Repetition, string(r.Status), r.Began.UnixNano()).Scan(&same)
	return same > 0, err
}

func insert(ctx context.Context, tx *sql.Tx, r Record, body string) (id int64, err error) {
	const statement = `INSERT INTO record (point_id, study, repetition, status, began, schema, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`
	err = tx.QueryRowContext(ctx, statement,
		r.PointID, storable(r.Study), r.Repetition, string(r.Status), r.Began.UnixNano(), Schema, body).Scan(&id)
	return id, err
}

// storable returns s without what PostgreSQL refuses in a text column: zero bytes and invalid UTF-8 become U+FFFD.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// transact runs change in a transaction: all of its statements take effect, or none. action is what explain wants.
func (s *Store) transact(ctx context.Context, action string, change func(ctx context.Context, tx *sql.Tx) error) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tx, err := s.begin(ctx)
	if err != nil {
		return s.explain(err, action)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err = change(ctx, tx); err == nil {
		err = tx.Commit()
	}
	return s.explain(err, action)
}

// begin begins a transaction. For as long as the store's patience it tries again while the server is unreachable: a restart must
// not cost a run of hours a record. Nothing has been written yet, so trying again is safe.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	deadline := time.Now().Add(s.patience)
	for {
		tx, err := s.db.BeginTx(ctx, nil)
		if err == nil {
			return tx, nil
		}
		if s.backend.diagnose(err, "").problem != Unreachable || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// execAll executes statements. It skips empty ones, which stand for those that a backend doesn't need.
func execAll(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, statement := range statements {
		if statement == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
