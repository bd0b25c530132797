package store

import (
	"errors"
	"fmt"
)

// Problem is what is wrong with a store. Callers choose an exit code and a hint by it.
type Problem string

// The problems a store can have.
const (
	Missing Problem = "missing" // nothing is there to read
	BadURL  Problem = "bad-url" // not a path or URL that names a store
	Locked  Problem = "locked"  // another process holds it
	Newer   Problem = "newer"   // written by a newer brokermark
	Older   Problem = "older"   // written by an older brokermark, and opened for reading only
	Foreign Problem = "foreign" // a file or database that is no store
	Corrupt Problem = "corrupt" // damaged
	Full    Problem = "full"    // no room for another record
	Denied  Problem = "denied"  // the server doesn't let this user do that
	Other   Problem = "other"

	Unreachable Problem = "unreachable" // the server doesn't answer
)

// Error is the error of every function of the package if the store itself is at fault. Its text is one sentence that names
// the store.
type Error struct {
	Problem Problem
	Store   string // path or URL as given
	Detail  string // a clause: "is locked by another process"
	Err     error  // the cause; may be nil
}

func (e *Error) Error() string {
	text := fmt.Sprintf("store %s %s", e.Store, e.Detail)
	if e.Err != nil && e.Err.Error() != "" {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// ProblemOf is the problem that err reports. It is empty if err isn't about a store.
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
	problem, detail, cause := s.backend.diagnose(err, doing)
	switch problem {
	case "":
		problem, detail = Other, "could not "+doing
	case Locked:
		detail += fmt.Sprintf(" (waited %v)", s.patience)
	}
	return &Error{Problem: problem, Store: s.name, Detail: detail, Err: cause}
}
