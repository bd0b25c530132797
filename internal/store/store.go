package store

import (
	"context"
	"database/sql"
	"encoding/json"
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
func Open(url string) (*Store, error) { return open(url, appending, patience) }

// OpenReadOnly opens a store that exists; it never creates or changes one, so that a report over a mistyped path is
// an error (Missing) and not an empty report. Append on it fails.
func OpenReadOnly(url string) (*Store, error) { return open(url, reading, patience) }

func open(url string, a access, patience time.Duration) (*Store, error) {
	b, name, err := choose(url)
	if err != nil {
		return nil, err
	}
	s := &Store{name: name, backend: b, access: a, patience: patience, forms: known}
	if s.db, err = b.open(a, patience); err != nil {
		return nil, s.explain(err, "open it")
	}
	if err := s.prepare(context.Background()); err != nil {
		_ = s.db.Close()
		return nil, err
	}
	return s, nil
}

// Name is the store's path or URL as it may be shown to anyone: without its password.
func (s *Store) Name() string { return s.name }

// Close releases the store.
func (s *Store) Close() error { return s.explain(s.db.Close(), "close it") }

// Append adds r as one durable transaction and returns the ID it was given; r.ID and r.Schema are ignored. When it
// returns nil the record survives a crash of the machine. Cancelling ctx before it returns leaves the record out, so
// callers that must not lose a finished record pass one that isn't cancelled by an interrupt.
func (s *Store) Append(ctx context.Context, r Record) (int64, error) {
	doing := fmt.Sprintf("append repetition %d of point %s", r.Repetition, r.PointID)
	r.ID, r.Schema = 0, Schema
	body, err := json.Marshal(r)
	if err != nil {
		return 0, fmt.Errorf("record of %s, repetition %d, can't be written as JSON: %w", r.PointID, r.Repetition, err)
	}
	if s.access == reading {
		return 0, &Error{Problem: Other, Store: s.name, Detail: "was opened for reading only: could not " + doing}
	}
	id, err := s.insert(ctx, r, string(body))
	return id, s.explain(err, doing)
}

func (s *Store) insert(ctx context.Context, r Record, body string) (id int64, err error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if s.backend.insert != "" {
		if _, err := tx.ExecContext(ctx, s.backend.insert); err != nil {
			return 0, err
		}
	}
	const insert = `INSERT INTO record (point_id, study, repetition, status, began, schema, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`
	if err := tx.QueryRowContext(ctx, insert,
		r.PointID, text(r.Study), r.Repetition, string(r.Status), r.Began.UnixNano(), r.Schema, body).Scan(&id); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	return id, nil
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
