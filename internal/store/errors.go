package store

import (
	"errors"
	"fmt"
)

// Problem classifies what is wrong with a store. Callers choose an exit code and a hint by it.
type Problem string

// The problems of a store.
const (
	Missing Problem = "missing" // there is nothing to read
	BadURL  Problem = "bad-url" // the path or URL names no store
	Locked  Problem = "locked"  // another process holds it
	Version Problem = "version" // written by another version of brokermark, whose tables or records have another form
	Foreign Problem = "foreign" // a file or database of another program
	Corrupt Problem = "corrupt" // damaged
	Full    Problem = "full"    // no room for another record
	Denied  Problem = "denied"  // the server doesn't allow it to this user
	Other   Problem = "other"

	Unreachable Problem = "unreachable" // the server doesn't answer
)

// Error reports a problem with a store. Every function of this package returns one if the store itself is at fault. Its text is a
// sentence: "store brokermark.db is locked by another process: could not open it (waited 10s): database is locked".
type Error struct {
	Problem Problem
	Store   string // path or URL as given, without a password
	Detail  string // the clause after the store's name
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

// problem makes an error without a cause.
func (s *Store) problem(p Problem, detail string, args ...any) error {
	return &Error{Problem: p, Store: s.name, Detail: fmt.Sprintf(detail, args...)}
}

// ProblemOf returns the problem that err reports, or "" if err isn't about a store.
func ProblemOf(err error) Problem {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Problem
	}
	return ""
}

// diagnosis explains an error of a database. The zero diagnosis means that the error came from elsewhere.
type diagnosis struct {
	problem Problem
	detail  string // as in Error
	cause   error  // as in Error: err itself, or a clearer one
}

// explain turns an error of the database into an *Error. action completes "could not …".
func (s *Store) explain(err error, action string) error {
	if err == nil || ProblemOf(err) != "" {
		return err
	}
	d := s.backend.diagnose(err, action)
	switch d.problem {
	case "":
		d = diagnosis{problem: Other, detail: "could not " + action, cause: err}
	case Locked:
		d.detail += fmt.Sprintf(" (waited %v)", s.patience)
	}
	return &Error{Problem: d.problem, Store: s.name, Detail: d.detail, Err: d.cause}
}
