package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// layoutsSQLite creates the tables. The columns of a record repeat what queries select by; body is the record itself.
var layoutsSQLite = [][]string{{
	`CREATE TABLE record (
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		point_id   TEXT    NOT NULL,
		study      TEXT    NOT NULL,
		repetition INTEGER NOT NULL,
		status     TEXT    NOT NULL,
		began      INTEGER NOT NULL, -- nanoseconds since 1970
		schema     INTEGER NOT NULL,
		body       TEXT    NOT NULL  -- the whole record as JSON
	)`,
	`CREATE INDEX record_point ON record (point_id, repetition, status)`,
	`CREATE INDEX record_study ON record (study)`,
	`CREATE TABLE brokermark_store (layout INTEGER PRIMARY KEY)`,
}}

// sqliteFile returns the backend for a store in a file.
func sqliteFile(path string) *backend {
	existed := existingFiles(path)
	return &backend{
		open:          func(mode access, patience time.Duration) (*sql.DB, error) { return openSQLite(path, mode, patience) },
		enableAppends: enableWAL,
		openFrozen:    func() (*sql.DB, error) { return openFrozen(path) },
		abandon:       func() { abandon(path, existed) },
		tidy:          func() { tidy(path, existed) },
		diagnose:      func(err error, action string) diagnosis { return diagnoseSQLite(path, err, action) },
		dialect: dialect{
			tables:      `SELECT name FROM sqlite_master WHERE type = 'table'`,
			now:         `CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)`,
			layouts:     layoutsSQLite,
			alternative: "file",
		},
	}
}

// openSQLite returns a connection pool for the store at path. SQLite itself opens the file with the first statement.
func openSQLite(path string, mode access, patience time.Duration) (*sql.DB, error) {
	if err := checkFile(path, mode); err != nil {
		return nil, err
	}
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()))
	if mode == appending {
		q.Set("_txlock", "immediate")
		q.Add("_pragma", "synchronous(FULL)") // in WAL mode: a commit is on the disk when it returns
	} else {
		q.Set("mode", "ro")
		q.Add("_pragma", "query_only(true)")
	}
	return sql.Open("sqlite", sqliteURL(path, q.Encode()))
}

// checkFile refuses a path that can't be opened as a store, with a clearer error than SQLite's.
func checkFile(path string, mode access) error {
	info, err := os.Stat(path)
	missing := errors.Is(err, os.ErrNotExist)
	switch {
	case missing && mode == reading:
		return &Error{Problem: Missing, Store: path, Detail: "does not exist: run a study first, or name another file with --store"}
	case missing:
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) {
			return &Error{Problem: BadURL, Store: path, Detail: "lies in a folder that does not exist: make it, or name another file"}
		}
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return &Error{Problem: BadURL, Store: path, Detail: "is a directory: name a file in it"}
	case !info.Mode().IsRegular(): // SQLite would create its journal beside a device
		return &Error{Problem: BadURL, Store: path, Detail: "is no ordinary file"}
	}
	return nil
}

// sqliteURL returns the URI of a file with options for opening it (https://www.sqlite.org/uri.html).
func sqliteURL(path, options string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options}
	return u.String()
}

// enableWAL switches to the write-ahead log, so that readers never wait for writers. While another process switches the same new
// file, SQLite returns "busy" at once in spite of its busy timeout, so enableWAL tries again.
func enableWAL(ctx context.Context, db *sql.DB, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		_, err := db.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
		if cause := sqliteError(err); cause == nil || primaryCode(cause) != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// sqliteError returns SQLite's own error within err, or nil.
func sqliteError(err error) *sqlite.Error {
	var cause *sqlite.Error
	errors.As(err, &cause)
	return cause
}

// primaryCode returns the kind of an error: the low byte of its result code. The other bytes refine it.
func primaryCode(err *sqlite.Error) int { return err.Code() & 0xff }

// diagnoseSQLite explains an error by its result code (https://www.sqlite.org/rescode.html).
func diagnoseSQLite(path string, err error, action string) diagnosis {
	cause := sqliteError(err)
	if cause == nil {
		return diagnosis{}
	}
	folder, _ := filepath.Abs(filepath.Dir(path))
	switch cause.Code() {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: // the latter: no room for the index of the write-ahead log
		return diagnosis{Full, "has no room left, its disk is full: could not " + action + "; earlier records are intact", hidden{err}}
	case sqlite3.SQLITE_READONLY_DIRECTORY:
		return diagnosis{Other, fmt.Sprintf("can't be opened: this user may not make files beside it, in %s", folder), hidden{err}}
	}
	switch primaryCode(cause) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return diagnosis{Locked, "is locked by another process: could not " + action, err}
	case sqlite3.SQLITE_NOTADB:
		return diagnosis{Foreign, "is not a SQLite file: name another file", err}
	case sqlite3.SQLITE_CORRUPT:
		return diagnosis{Corrupt, "is damaged: could not " + action, err}
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY:
		if _, statErr := os.Stat(path); primaryCode(cause) == sqlite3.SQLITE_CANTOPEN && errors.Is(statErr, os.ErrNotExist) {
			return diagnosis{Other, fmt.Sprintf("can't be made: this user may not make files in %s", folder), hidden{err}}
		}
		return diagnosis{Other, "can't be opened for that by this user: could not " + action, err}
	}
	return diagnosis{Other, "could not " + action, err}
}

// hidden wraps an error whose text adds nothing to the sentence about it, such as "disk I/O error (4874)". errors.As still finds it.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }
