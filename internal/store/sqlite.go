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

// sqliteFile is a store in a file.
func sqliteFile(path string) *backend {
	there := beside(path)
	return &backend{
		open:       func(a access, patience time.Duration) (*sql.DB, error) { return openSQLite(path, a, patience) },
		enter:      enterWAL,
		openFrozen: func() (*sql.DB, error) { return openFrozen(path) },
		abandon:    func() { abandon(path, there) },
		tidy:       func() { tidy(path, there) },
		diagnose:   func(err error, doing string) (Problem, string, error) { return diagnoseSQLite(path, err, doing) },
		tables:     `SELECT name FROM sqlite_master WHERE type = 'table'`,
		now:        `CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)`,
		layouts:    layoutsSQLite,
		elsewhere:  "file",
	}
}

// openSQLite opens the store at path. It finds out whether the file exists, and leaves opening it to the first statement.
func openSQLite(path string, a access, patience time.Duration) (*sql.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && a == reading:
		return nil, &Error{Problem: Missing, Store: path, Detail: "does not exist: run a study first, or name another file with --store"}
	case err == nil && info.IsDir():
		return nil, &Error{Problem: BadURL, Store: path, Detail: "is a directory: name a file in it"}
	case err == nil && !info.Mode().IsRegular(): // SQLite would make its journal beside a device
		return nil, &Error{Problem: BadURL, Store: path, Detail: "is no ordinary file"}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	case err != nil:
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) {
			return nil, &Error{Problem: BadURL, Store: path, Detail: "lies in a folder that does not exist: make it, or name another file"}
		}
	}
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()))
	if a == appending {
		q.Set("_txlock", "immediate")
		q.Add("_pragma", "synchronous(FULL)") // in WAL mode: a commit is on the disk when it returns
	} else {
		q.Set("mode", "ro")
		q.Add("_pragma", "query_only(true)")
	}
	return sql.Open("sqlite", sqliteURL(path, q.Encode()))
}

// sqliteURL names a file and how to open it (https://www.sqlite.org/uri.html).
func sqliteURL(path, query string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query}
	return u.String()
}

// enterWAL switches to the write-ahead log, with which readers never wait for writers. While another process is switching
// the same new file, SQLite returns "busy" at once, without waiting for its busy timeout, so enterWAL tries again.
func enterWAL(ctx context.Context, db *sql.DB, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		_, err := db.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
		var cause *sqlite.Error
		if !errors.As(err, &cause) || cause.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// diagnoseSQLite is the diagnosis of an error by its result code (https://www.sqlite.org/rescode.html).
func diagnoseSQLite(path string, err error, doing string) (Problem, string, error) {
	var cause *sqlite.Error
	if !errors.As(err, &cause) {
		return "", "", err
	}
	if code := cause.Code(); code == sqlite3.SQLITE_IOERR_SHMSIZE || code == sqlite3.SQLITE_FULL { // the first is about the write-ahead log's index
		return Full, "has no room left, its disk is full: could not " + doing + "; earlier records are intact", wordless{err}
	}
	folder, _ := filepath.Abs(filepath.Dir(path))
	switch cause.Code() & 0xff { // the low byte is the kind, the rest refines it
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return Locked, "is locked by another process: could not " + doing, err
	case sqlite3.SQLITE_NOTADB:
		return Foreign, "is not a SQLite file: name another file", err
	case sqlite3.SQLITE_CORRUPT:
		return Corrupt, "is damaged: could not " + doing, err
	case sqlite3.SQLITE_CANTOPEN:
		if _, missing := os.Stat(path); errors.Is(missing, os.ErrNotExist) {
			return Other, fmt.Sprintf("can't be made: this user may not make files in %s", folder), wordless{err}
		}
		return Other, "can't be opened for that by this user: could not " + doing, err
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY:
		if cause.Code() == sqlite3.SQLITE_READONLY_DIRECTORY {
			return Other, fmt.Sprintf("can't be opened: this user may not make files beside it, in %s", folder), wordless{err}
		}
		return Other, "can't be opened for that by this user: could not " + doing, err
	}
	return Other, "could not " + doing, err
}

// wordless is an error whose own text adds nothing to the sentence about it, such as "disk I/O error (4874)".
type wordless struct{ error }

func (wordless) Error() string   { return "" }
func (w wordless) Unwrap() error { return w.error }
