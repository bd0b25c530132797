package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// defaultPatience is how long an operation waits for another process to release the store, or for a server that restarts.
const defaultPatience = 10 * time.Second

// Store is an open store. Its methods may be called from different goroutines, and several processes may have the
// same store open and append to it.
type Store struct {
	name     string // path or URL as given, but without a password
	backend  *backend
	db       *sql.DB
	access   access
	patience time.Duration
	forms    forms // of the records in it
}

// access says what an open store will be used for.
type access string

const (
	appending access = "append"
	reading   access = "read"
)

// Open opens the store at url for appending and reading, and creates it when nothing is there. url is the path of a
// SQLite file, optionally written sqlite:path, or the URL of a PostgreSQL database, in which the store takes the current
// schema. Every failure is an *Error, which never holds a password.
func Open(url string) (*Store, error) { return OpenContext(context.Background(), url) }

// OpenContext is Open, which it gives up when ctx ends.
func OpenContext(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, appending, defaultPatience)
}

// OpenReadOnly opens an existing store. It never creates or changes one, so that a report over a mistyped path is
// an error (Missing) instead of an empty report. Append fails on a store that was opened like this.
func OpenReadOnly(url string) (*Store, error) { return OpenReadOnlyContext(context.Background(), url) }

// OpenReadOnlyContext is OpenReadOnly, which it gives up when ctx ends.
func OpenReadOnlyContext(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, reading, defaultPatience)
}

func open(ctx context.Context, url string, a access, patience time.Duration) (*Store, error) {
	b, name, err := choose(url)
	if err != nil {
		return nil, err
	}
	s := &Store{name: name, backend: b, access: a, patience: patience, forms: known}
	if s.db, err = b.open(a, patience); err != nil {
		return nil, s.explain(err, "open it")
	}
	bounded, cancel := s.bounded(ctx)
	defer cancel()
	err = s.prepare(bounded)
	if a == reading && (ProblemOf(err) == Full || mayNotShare(err)) {
		err = s.reopenFrozen(bounded, err)
	}
	if err == nil {
		return s, nil
	}
	s.abandon()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// reopenFrozen opens the store for reading without writing anything beside it. It returns failed, the error of the usual way, if
// that would miss records.
func (s *Store) reopenFrozen(ctx context.Context, failed error) error {
	s.abandon()
	db, err := s.backend.openFrozen()
	if err != nil {
		return s.explain(err, "read it")
	}
	if db == nil {
		return failed
	}
	s.db = db
	return s.prepare(ctx)
}

// abandon closes a store whose opening failed, and removes what the attempt left on the disk.
func (s *Store) abandon() {
	_ = s.db.Close()
	s.backend.abandon()
}

// bounded bounds an operation by twice the store's patience: a database that never answers must not hold the program up.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*s.patience)
}

// Name is the store's path or URL without its password, which may be shown to anyone.
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
// returns nil, the record survives a crash of the machine. If ctx ends before that, the record is left out, so a
// caller that must not lose a finished record passes a context that no interrupt cancels.
func (s *Store) Append(ctx context.Context, r Record) (int64, error) {
	id, _, err := s.append(ctx, r, false)
	return id, err
}

// AppendOnce appends r unless the store holds it already, which there reports. An append whose answer was lost can so be repeated.
func (s *Store) AppendOnce(ctx context.Context, r Record) (there bool, err error) {
	_, there, err = s.append(ctx, r, true)
	return there, err
}

func (s *Store) append(ctx context.Context, r Record, once bool) (id int64, there bool, err error) {
	doing := fmt.Sprintf("append repetition %d of point %s", r.Repetition, r.PointID)
	if s.access == reading {
		return 0, false, &Error{Problem: Other, Store: s.name, Detail: "was opened for reading only: could not " + doing}
	}
	r.ID, r.Schema = 0, Schema
	body, err := json.Marshal(r)
	if err != nil {
		return 0, false, fmt.Errorf("record of %s, repetition %d, can't be written as JSON: %w", r.PointID, r.Repetition, err)
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err = s.transact(ctx, func(tx *sql.Tx) (err error) {
		if err := execAll(ctx, tx, s.backend.insert); err != nil {
			return err
		}
		if once {
			id, there, err = find(ctx, tx, r)
			if err != nil || there {
				return err
			}
		}
		id, err = insert(ctx, tx, r, string(body))
		return err
	})
	if err != nil {
		return 0, false, s.explain(err, doing)
	}
	return id, there, nil
}

// find looks for r: a record of the same repetition of the same point that began at the same nanosecond and ended in the same way.
func find(ctx context.Context, tx *sql.Tx, r Record) (id int64, found bool, err error) {
	const same = `SELECT id FROM record WHERE point_id = $1 AND repetition = $2 AND status = $3 AND began = $4`
	err = tx.QueryRowContext(ctx, same, r.PointID, r.Repetition, string(r.Status), r.Began.UnixNano()).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

func insert(ctx context.Context, tx *sql.Tx, r Record, body string) (id int64, err error) {
	const insert = `INSERT INTO record (point_id, study, repetition, status, began, schema, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`
	err = tx.QueryRowContext(ctx, insert,
		r.PointID, storable(r.Study), r.Repetition, string(r.Status), r.Began.UnixNano(), r.Schema, body).Scan(&id)
	return id, err
}

// storable is s as every database can store it in a column: PostgreSQL takes neither zero bytes nor invalid UTF-8.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// transact runs change in a transaction: all that it does takes effect, or nothing.
func (s *Store) transact(ctx context.Context, change func(tx *sql.Tx) error) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// begin begins a transaction. It waits a while for a server that restarts, which must not cost a run of hours a
// record. Nothing has been written yet, so trying again is safe.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	for deadline := time.Now().Add(s.patience); ; {
		tx, err := s.db.BeginTx(ctx, nil)
		if err == nil {
			return tx, nil
		}
		if problem, _, _ := s.backend.diagnose(err, ""); problem != Unreachable || time.Now().After(deadline) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// execAll executes statements that return no rows. It skips empty ones, which stand for what a backend doesn't need.
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
