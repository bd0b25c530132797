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

// patience is how long an operation waits for another process to release the store.
const patience = 10 * time.Second

// Store is an open store. Its methods may be called from different goroutines, and several processes may have the
// same store open and append to it.
type Store struct {
	name     string // for people: as given, but without a password
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
// SQLite file, optionally written sqlite:path, or the URL of a PostgreSQL database, in which it takes the current
// schema. Every failure is an *Error, which never holds a password.
func Open(url string) (*Store, error) { return OpenContext(context.Background(), url) }

// OpenContext is Open until ctx ends.
func OpenContext(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, appending, patience)
}

// OpenReadOnly opens a store that exists; it never creates or changes one, so that a report over a mistyped path is
// an error (Missing) and not an empty report. Append on it fails.
func OpenReadOnly(url string) (*Store, error) { return OpenReadOnlyContext(context.Background(), url) }

// OpenReadOnlyContext is OpenReadOnly until ctx ends.
func OpenReadOnlyContext(ctx context.Context, url string) (*Store, error) {
	return open(ctx, url, reading, patience)
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
	if err != nil && a == reading && b.frozen != nil && (ProblemOf(err) == Full || mayNotShare(err)) {
		err = s.freeze(bounded, err)
	}
	if err != nil {
		_ = s.db.Close()
		if b.abandon != nil {
			b.abandon()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return s, nil
}

// freeze prepares the store once more, as it can be read on a full disk, or where nothing may be written; why is what
// happened otherwise.
func (s *Store) freeze(ctx context.Context, why error) error {
	_ = s.db.Close()
	if s.backend.abandon != nil {
		s.backend.abandon()
	}
	db, err := s.backend.frozen()
	if err != nil {
		return s.explain(err, "read it")
	}
	if db == nil {
		return why
	}
	s.db = db
	return s.prepare(ctx)
}

// bounded gives a call of the database twice its patience, so that one that never answers holds nobody up for ever.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*s.patience)
}

// Name is the store's path or URL as it may be shown to anyone: without its password.
func (s *Store) Name() string { return s.name }

// Close releases the store.
func (s *Store) Close() error {
	err := s.explain(s.db.Close(), "close it")
	if s.access == reading && s.backend.tidy != nil {
		s.backend.tidy()
	}
	return err
}

// Append adds r as one durable transaction and returns the ID it was given; r.ID and r.Schema are ignored. When it
// returns nil the record survives a crash of the machine. Cancelling ctx before it returns leaves the record out, so
// callers that must not lose a finished record pass one that isn't cancelled by an interrupt.
func (s *Store) Append(ctx context.Context, r Record) (int64, error) {
	id, _, err := s.append(ctx, r, false)
	return id, err
}

// AppendOnce is Append, unless the same record is there: an append whose answer was lost can be repeated.
func (s *Store) AppendOnce(ctx context.Context, r Record) (there bool, err error) {
	_, there, err = s.append(ctx, r, true)
	return there, err
}

func (s *Store) append(ctx context.Context, r Record, once bool) (id int64, there bool, err error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	doing := fmt.Sprintf("append repetition %d of point %s", r.Repetition, r.PointID)
	r.ID, r.Schema = 0, Schema
	body, err := json.Marshal(r)
	if err != nil {
		return 0, false, fmt.Errorf("record of %s, repetition %d, can't be written as JSON: %w", r.PointID, r.Repetition, err)
	}
	if s.access == reading {
		return 0, false, &Error{Problem: Other, Store: s.name, Detail: "was opened for reading only: could not " + doing}
	}
	id, there, err = s.insert(ctx, r, string(body), once)
	return id, there, s.explain(err, doing)
}

func (s *Store) insert(ctx context.Context, r Record, body string, once bool) (id int64, there bool, err error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if s.backend.insert != "" {
		if _, err := tx.ExecContext(ctx, s.backend.insert); err != nil {
			return 0, false, err
		}
	}
	if once {
		const same = `SELECT id FROM record WHERE point_id = $1 AND repetition = $2 AND status = $3 AND began = $4`
		switch err := tx.QueryRowContext(ctx, same, r.PointID, r.Repetition, string(r.Status), r.Began.UnixNano()).Scan(&id); {
		case err == nil:
			return id, true, nil
		case !errors.Is(err, sql.ErrNoRows):
			return 0, false, err
		}
	}
	const insert = `INSERT INTO record (point_id, study, repetition, status, began, schema, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`
	if err := tx.QueryRowContext(ctx, insert,
		r.PointID, text(r.Study), r.Repetition, string(r.Status), r.Began.UnixNano(), r.Schema, body).Scan(&id); err != nil {
		return 0, false, err
	}
	if err := tx.Commit(); err != nil {
		return 0, false, err
	}
	return id, false, nil
}

// begin begins a transaction, waiting a while for a server that restarts: in a run of hours that must not cost a
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

// text is what every database can keep in a column: PostgreSQL takes neither zero bytes nor broken UTF-8.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// placeholders writes $from, $from+1, … for n arguments.
func placeholders(from, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", from+i)
	}
	return strings.Join(marks, ", ")
}
