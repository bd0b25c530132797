package provision

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/docker/go-units"
)

// ErrRefused refuses a start that is impossible: an unknown version, too many nodes, TLS for a broker without it.
type ErrRefused struct {
	Broker, Reason string
	Path           string // where a spec holds the setting at fault; empty if it is not a single one
}

func (e *ErrRefused) Error() string { return e.Broker + ": " + e.Reason }

// SettingPath is the setting's path in a spec.
func (e *ErrRefused) SettingPath() string { return e.Path }

// ErrMissing names software that could not be installed, and a command that installs it.
type ErrMissing struct {
	What string // "java"
	Fix  string // a command; empty if there is none
	Err  error  // the failure of the attempt to install it; nil if there was none
}

func (e *ErrMissing) Error() string {
	s := e.What + " is missing"
	if e.Fix != "" {
		s += "; install it with: " + e.Fix
	}
	if e.Err != nil {
		s += "; trying to install it failed: " + e.Err.Error()
	}
	return s
}

func (e *ErrMissing) Unwrap() error { return e.Err }

// ErrAltered means that a registry sent another file than the one locked for its name and version. It is never a reason to
// continue without the broker.
type ErrAltered struct {
	Err error // which file
}

func (e *ErrAltered) Error() string { return e.Err.Error() }

func (e *ErrAltered) Unwrap() error { return e.Err }

// ErrPortInUse says that a port that was asked for (or tried twice) is in use by another program.
type ErrPortInUse struct {
	Name string // the recipe's name of the port
	Port int    // 0 where only the broker knows which one
	Log  []string
}

func (e *ErrPortInUse) Error() string {
	if e.Port == 0 {
		return "a port that the broker needs is in use" + logged(e.Log)
	}
	return fmt.Sprintf("port %d (%s) is in use on 127.0.0.1; choose another or stop its owner", e.Port, e.Name)
}

// ErrHopeless is in the error of a Ready that no later attempt would do better.
var ErrHopeless = errors.New("waiting does not help")

// ErrNotReady is a node or cluster that lived but did not answer before its deadline.
type ErrNotReady struct {
	Broker string
	Node   int // 0: the whole cluster
	After  time.Duration
	Last   error // the last probe's error
	Log    []string
}

func (e *ErrNotReady) Error() string {
	who := e.Broker + " cluster"
	if e.Node > 0 {
		who = fmt.Sprintf("%s node %d", e.Broker, e.Node)
	}
	return fmt.Sprintf("%s was not ready after %s: %v%s", who, e.After.Round(time.Millisecond), e.Last, logged(e.Log))
}

func (e *ErrNotReady) Unwrap() error { return e.Last }

// ErrDied reports a node that ended during its start or while it was needed.
type ErrDied struct {
	Broker string
	Node   int
	Reason string // "exited with code 1"
	Log    []string
}

func (e *ErrDied) Error() string {
	return fmt.Sprintf("%s node %d %s%s", e.Broker, e.Node, e.Reason, logged(e.Log))
}

// ErrNoDisk is a file system with less room than a broker can start on.
type ErrNoDisk struct {
	Dir        string
	Free, Need int64 // bytes
}

func (e *ErrNoDisk) Error() string {
	return fmt.Sprintf("not enough disk below %s: %s free, at least %s needed",
		e.Dir, units.BytesSize(float64(e.Free)), units.BytesSize(float64(e.Need)))
}

func logged(lines []string) string {
	if len(lines) == 0 {
		return "; its log is empty"
	}
	return "; its log ends:\n  " + strings.Join(lines, "\n  ")
}
