package store

import (
	"context"
	"database/sql"
	"os"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
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
	file     os.FileInfo // of the SQLite file that was opened for appending; nil otherwise
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

// Appendable returns the error that Open would return, as far as it can be found without changing or creating anything.
func Appendable(url string) error {
	b, _, err := choose(url)
	if err != nil {
		return err
	}
	return b.appendable()
}

// OpenReadOnlyContext opens an existing store for reading; the attempt ends with ctx. It never creates a store, so a mistyped
// path gives the error Missing and not an empty report.
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
	prepared := make(chan error, 1)
	go func() { prepared <- s.prepare(limited) }()
	select {
	case err = <-prepared:
	case <-time.After(2*patience + time.Second): // a stranger's file may name tables without end, and SQLite reads all before it heeds limited
		return nil, s.problem(Corrupt, "is damaged: the list of its tables has no end")
	}
	if mode == reading && (ProblemOf(err) == Full || mayNotWriteBeside(err)) {
		err = s.reopenFrozen(limited, err)
	}
	if err == nil {
		if mode == appending && b.file != "" {
			s.file, _ = os.Stat(b.file) // without it the path isn't watched
		}
		return s, nil
	}
	s.abandon(err)
	s.tidy()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// reopenFrozen opens the store for reading without writing any file, after the normal open failed with openErr. It returns
// openErr if records would be missing.
func (s *Store) reopenFrozen(ctx context.Context, openErr error) error {
	s.abandon(openErr)
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

// abandon closes a store that failed to open with err. It removes the attempt's files only if the disk is full: otherwise they
// may belong to another process that is creating the store.
func (s *Store) abandon(err error) {
	_ = s.db.Close()
	if ProblemOf(err) == Full {
		s.backend.abandon()
	}
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
	s.tidy()
	return err
}

// tidy removes the files beside a store that was closed or failed to open.
func (s *Store) tidy() {
	if s.access == reading {
		s.backend.tidy()
	}
	s.backend.unguard()
}

// transact runs change in a transaction: all of its statements take effect, or none. action is passed to explain.
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
		if clock.Pause(ctx, 100*time.Millisecond) != nil {
			return nil, err
		}
	}
}

// execAll executes statements. It skips empty ones, which the backend doesn't need.
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
