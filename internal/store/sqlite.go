package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// layoutVersion is the version of the tables, not of the records in them (that is Schema).
const layoutVersion = 1

var schemaSQLite = []string{
	`CREATE TABLE IF NOT EXISTS record (
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		point_id   TEXT    NOT NULL,
		study      TEXT    NOT NULL,
		repetition INTEGER NOT NULL,
		status     TEXT    NOT NULL,
		began      INTEGER NOT NULL, -- nanoseconds since 1970
		schema     INTEGER NOT NULL,
		body       TEXT    NOT NULL  -- the whole record as JSON
	)`,
	`CREATE INDEX IF NOT EXISTS record_point ON record (point_id, repetition, status)`,
	`CREATE INDEX IF NOT EXISTS record_study ON record (study)`,
	`CREATE TABLE IF NOT EXISTS brokermark_store (layout INTEGER PRIMARY KEY)`,
	fmt.Sprintf(`INSERT INTO brokermark_store (layout) SELECT %d WHERE NOT EXISTS (SELECT 1 FROM brokermark_store)`, layoutVersion),
}

// sqlitePath is the file that url names.
func sqlitePath(url string) (string, error) {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "" || found && scheme == "sqlite" && rest == "":
		return "", &Error{Problem: BadURL, Store: fmt.Sprintf("%q", url), Detail: "names no file: give a path or sqlite:path"}
	case found && scheme == "sqlite":
		return strings.TrimPrefix(rest, "//"), nil
	case found && strings.HasPrefix(rest, "//"):
		return "", &Error{Problem: BadURL, Store: redact(url), Detail: fmt.Sprintf("has the unknown scheme %q: allowed are a path and sqlite:path", scheme)}
	}
	return url, nil
}

// redact hides a password, since the sentence may end up in a log.
func redact(store string) string {
	if u, err := url.Parse(store); err == nil {
		return u.Redacted()
	}
	return "given"
}

// openSQLite opens path. It doesn't touch the file yet, except for finding out whether there is one.
func openSQLite(path string, a access, patience time.Duration) (*sql.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && a == reading:
		return nil, &Error{Problem: Missing, Store: path, Detail: "does not exist: run a study first, or name another file with --store"}
	case err == nil && info.IsDir():
		return nil, &Error{Problem: BadURL, Store: path, Detail: "is a directory: name a file in it"}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
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
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return sql.Open("sqlite", name.String())
}

// enterWAL switches to the write-ahead log, with which readers never wait for writers. SQLite answers "busy" at once,
// without the busy timeout, when another process is switching the same new file; so this waits by itself.
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

func tablesSQLite(ctx context.Context, db *sql.DB) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, `SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	tables := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		tables[name] = true
	}
	return tables, rows.Err()
}
