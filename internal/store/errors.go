package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Problem says what is wrong with a store, for the caller to choose an exit code or a hint.
type Problem string

// The problems a store can have.
const (
	Missing Problem = "missing" // nothing is there to read
	BadURL  Problem = "bad-url" // not a path or URL that names a store
	Locked  Problem = "locked"  // another process holds it
	Newer   Problem = "newer"   // written by a newer brokermark
	Foreign Problem = "foreign" // somebody else's file
	Corrupt Problem = "corrupt" // damaged
	Full    Problem = "full"    // no room for another record
	Other   Problem = "other"
)

// Error is what every function of the package returns when the store itself is at fault. Its text is one sentence
// that names the store.
type Error struct {
	Problem Problem
	Store   string // path or URL as given
	Detail  string // a clause: "is locked by another process"
	Err     error  // the cause; may be nil
}

func (e *Error) Error() string {
	text := fmt.Sprintf("store %s %s", e.Store, e.Detail)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// ProblemOf tells the problem of err, or "" when err isn't about a store.
func ProblemOf(err error) Problem {
	var e *Error
	if errors.As(err, &e) {
		return e.Problem
	}
	return ""
}

// explain turns a database error into one that says what happened to the store. doing completes "could not …".
func (s *Store) explain(err error, doing string) error {
	if err == nil || ProblemOf(err) != "" {
		return err
	}
	problem, detail := Other, "could not "+doing
	var cause *sqlite.Error
	if errors.As(err, &cause) {
		if cause.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // no room for the write-ahead log's index
			return &Error{Problem: Full, Store: s.name, Detail: "has no room left: could not " + doing, Err: err}
		}
		switch cause.Code() & 0xff { // the low byte is the kind, the rest refines it
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			problem, detail = Locked, fmt.Sprintf("is locked by another process (waited %v): could not %s", s.patience, doing)
		case sqlite3.SQLITE_NOTADB:
			problem, detail = Foreign, "is not a SQLite file: name another file"
		case sqlite3.SQLITE_CORRUPT:
			problem, detail = Corrupt, "is damaged: could not "+doing
		case sqlite3.SQLITE_FULL:
			problem, detail = Full, "has no room left: could not "+doing+"; earlier records are intact"
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY:
			detail = "can't be opened for that by this user: could not " + doing
		}
	}
	return &Error{Problem: problem, Store: s.name, Detail: detail, Err: err}
}
