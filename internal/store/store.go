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
	name     string // as given, for people
	db       *sql.DB
	patience time.Duration
}

// access says what an open store will be used for.
type access string

const (
	appending access = "append"
	reading   access = "read"
)

// Open opens the store at url for appending and reading, and creates it when nothing is there. url is the path of a
// SQLite file, optionally written sqlite:path. Every failure is an *Error.
func Open(url string) (*Store, error) { return open(url, appending, patience) }

// OpenReadOnly opens a store that exists; it never creates or changes one, so that a report over a mistyped path is
// an error (Missing) and not an empty report. Append on it fails.
func OpenReadOnly(url string) (*Store, error) { return open(url, reading, patience) }

func open(url string, a access, patience time.Duration) (*Store, error) {
	path, err := sqlitePath(url)
	if err != nil {
		return nil, err
	}
	s := &Store{name: url, patience: patience}
	if s.db, err = openSQLite(path, a, patience); err != nil {
		return nil, s.explain(err, "open it")
	}
	if err := s.prepare(context.Background(), a); err != nil {
		_ = s.db.Close()
		return nil, err
	}
	return s, nil
}

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
	const insert = `INSERT INTO record (point_id, study, repetition, status, began, schema, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`
	var id int64
	err = s.db.QueryRowContext(ctx, insert,
		r.PointID, r.Study, r.Repetition, string(r.Status), r.Began.UnixNano(), r.Schema, string(body)).Scan(&id)
	return id, s.explain(err, doing)
}

// prepare checks that the database is a store this version can use, and makes an empty one a store when appending.
func (s *Store) prepare(ctx context.Context, a access) error {
	err := s.check(ctx)
	if a == reading || err != nil && ProblemOf(err) != Missing {
		return err
	}
	if walErr := enterWAL(ctx, s.db, s.patience); walErr != nil {
		return s.explain(walErr, "open it for appending")
	}
	if err == nil {
		return nil
	}
	// Two processes may find the same empty file: the transaction takes the write lock first and the statements
	// do nothing the second time.
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err, "create it")
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	for _, statement := range schemaSQLite {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return s.explain(err, "create it")
		}
	}
	if err := tx.Commit(); err != nil {
		return s.explain(err, "create it")
	}
	return s.check(ctx)
}

// check answers nil for a usable store, Missing for an empty database, Newer or Foreign for one to leave alone.
func (s *Store) check(ctx context.Context) error {
	tables, err := tablesSQLite(ctx, s.db)
	if err != nil {
		return s.explain(err, "read it")
	}
	if len(tables) == 0 {
		return &Error{Problem: Missing, Store: s.name, Detail: "holds nothing yet: run a study first"}
	}
	if !tables["brokermark_store"] {
		return &Error{Problem: Foreign, Store: s.name, Detail: "is a database of something else: name another file"}
	}
	var layout int
	if err := s.db.QueryRowContext(ctx, `SELECT layout FROM brokermark_store`).Scan(&layout); err != nil {
		return s.explain(err, "read its version")
	}
	if layout > layoutVersion {
		return &Error{Problem: Newer, Store: s.name, Detail: fmt.Sprintf(
			"was written by a newer brokermark (layout %d, this one knows %d): update brokermark or name another file", layout, layoutVersion)}
	}
	return nil
}

// placeholders writes $from, $from+1, … for n arguments.
func placeholders(from, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", from+i)
	}
	return strings.Join(marks, ", ")
}
