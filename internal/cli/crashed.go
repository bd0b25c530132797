package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/crash"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/secret"
	"github.com/brokermark/brokermark/internal/store"
)

// crashed reports a panic of this process and returns the exit code for it.
func (s *shell) crashed(panicked any) int {
	s.reportCrash(fmt.Sprint(panicked), fmt.Sprintf("%v\n\n%s", panicked, debug.Stack()))
	return exitInternal
}

// reportCrash keeps the trace of an internal error in a file, and asks the user to report it.
func (s *shell) reportCrash(what, trace string) {
	trace = fmt.Sprintf("%s\nbrokermark %s\n%s", time.Now().Format(time.RFC3339), toolVersion(), trace)
	where := "with what you did"
	if path, err := keepTrace(secret.Redact(trace)); err == nil {
		where = "and attach " + path
	}
	fmt.Fprintf(s.err, "brokermark: internal error: %s; please report it %s\n", secret.Redact(what), where)
}

// keepTrace writes a trace to a file with an unpredictable name: another user could have put a link under a known name, to a file
// that would be overwritten.
func keepTrace(trace string) (path string, err error) {
	f, err := os.CreateTemp("", "brokermark-crash-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(trace)
	return f.Name(), errors.Join(err, f.Close())
}

// after reports how a watched process ended, records the repetition that was under way, and returns the exit code.
func (s *shell) after(e crash.Ending) int {
	status, code, why := store.Failed, exitInternal, fmt.Sprintf("a library ended the program with exit code %d", e.Code)
	switch {
	case e.Meant && e.Signal == 0:
		fmt.Fprint(s.err, secret.Redact(e.Dump)) // words of a library that only look like a dump
		status, code, why = store.Aborted, e.Code, "interrupted; it left before it had cleaned up"
	case e.Dump != "":
		why = firstLine(e.Dump)
		s.reportCrash(why, e.Dump)
		why = "brokermark crashed: " + why
	case e.Signal == syscall.SIGKILL:
		fmt.Fprintln(s.err, "brokermark: killed; the kernel kills a program when memory runs out (see dmesg)")
		why = "brokermark crashed: killed"
	case e.Signal != 0:
		status, why = store.Aborted, "ended by a signal: "+e.Signal.String()
	default:
		s.reportCrash(why, why+"\n")
		why = "brokermark crashed: " + why
	}
	if kept, next, err := s.keepUnderWay(e, status, secret.Redact(why)); err != nil {
		fmt.Fprintf(s.err, "brokermark: what was under way is not recorded: %s\n", secret.Redact(err.Error()))
	} else if kept != "" {
		fmt.Fprintf(s.err, "brokermark: %s; %s\n", kept, next)
	}
	if e.Signal != 0 {
		dieBy(e.Signal)
	}
	return code
}

// dieBy ends this process by the signal that ended the watched one, so that a shell sees the same.
func dieBy(s syscall.Signal) {
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second) // the signal arrives meanwhile
	os.Exit(128 + int(s))
}

// underWay notes, for the process that watches this one, which repetition is under way.
type underWay struct {
	watched *crash.Inside // nil: no process watches
	host    store.Host
	noted   time.Time // when its progress was
	attempt attempt   // the repetition, or the last one
}

// attempt is a repetition under way: the record of it if it ends now, and where that is to be stored.
type attempt struct {
	Record  store.Record
	Store   string
	Folders []string // for a file with the record if the store doesn't take it
	Next    string   // where the same command begins
}

// The kinds of notes.
const (
	noteAttempt  = "attempt"  // an attempt
	noteProgress = "progress" // a measure.Count
)

func (s *shell) underWay(o runOptions, folder string) *underWay {
	u := &underWay{watched: s.watched, attempt: attempt{Store: o.store, Folders: []string{unstoredIn(o.store), folder}, Next: o.next()}}
	if s.watched != nil {
		u.host = lab.HostFacts()
	}
	return u
}

// event follows the lab.
func (u *underWay) event(e lab.Event) {
	switch {
	case u.watched == nil:
	case e.Kind == lab.Began:
		u.attempt.Record = lab.Blank(e.Run, u.host, toolVersion())
		u.watched.Note(noteAttempt, u.attempt)
	case e.Kind == lab.Sampled && e.Sample != nil && time.Since(u.noted) > time.Second:
		u.noted = time.Now()
		u.watched.Note(noteProgress, e.Sample.Count)
	}
}

// keeps wraps do: while it runs, the process that watches this one knows the finished record, and stores it if this process dies.
func (u *underWay) keeps(do func(context.Context, store.Record) error) func(context.Context, store.Record) error {
	return func(ctx context.Context, r store.Record) error {
		u.attempt.Record = r
		u.watched.Note(noteAttempt, u.attempt)
		err := do(ctx, r)
		u.watched.Note(noteAttempt, nil)
		u.watched.Note(noteProgress, nil)
		return err
	}
}

// keepUnderWay records the repetition that was under way, with that status unless it had ended. It returns a sentence about it, or "" if
// none was under way, and where the same command begins.
func (s *shell) keepUnderWay(e crash.Ending, status store.Status, why string) (kept, next string, err error) {
	text, ok := e.Notes[noteAttempt]
	if !ok {
		return "", "", nil
	}
	var a attempt
	if err := json.Unmarshal(text, &a); err != nil {
		return "", "", err
	}
	var seen measure.Count
	if text, ok := e.Notes[noteProgress]; ok && json.Unmarshal(text, &seen) == nil {
		why += fmt.Sprintf("; until then %d messages were sent, %d confirmed, %d failed and %d received", seen.Sent, seen.Acked, seen.Failed, seen.Received)
	}
	if a.Record.Status == "" { // else it was about to be stored
		a.Record.Status, a.Record.Reason, a.Record.Ended = status, why, time.Now().UTC()
	}
	err = store.Keep(a.Store, a.Record, s.err, a.Folders...)
	kept = fmt.Sprintf("%s is recorded as %s", a.Record.Label, a.Record.Status)
	if unstored, ok := errors.AsType[*store.Unstored](err); ok && len(unstored.Paths) > 0 {
		kept, err = kept+" and waits in "+strings.Join(unstored.Paths, " and ")+" until the next run with this store", nil
	}
	return kept, a.Next, err
}
