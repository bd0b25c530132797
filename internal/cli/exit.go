package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// The exit codes. If several apply, the program ends with the first of 130, 6, 3, 4, 5, 7.
const (
	exitFine        = 0
	exitInternal    = 1
	exitInput       = 2
	exitBroker      = 3
	exitFailed      = 4
	exitVoid        = 5
	exitStore       = 6
	exitGate        = 7
	exitHungUp      = 129
	exitInterrupted = 130
	exitTerminated  = 143
)

// ExitCode is a row of the table in the help.
type ExitCode struct {
	Code    int
	Meaning string
}

// ExitCodes are all exit codes of the program.
var ExitCodes = []ExitCode{
	{exitFine, "fine; single refused points of a sweep are answers too"},
	{exitInternal, "an error of brokermark itself, or a disk that is full or broken"},
	{exitInput, "bad input (a path that can't be written is), or every point was refused"},
	{exitBroker, "a broker could not be installed, started or reached"},
	{exitFailed, "a point failed"},
	{exitVoid, "results are void: the generator limited them"},
	{exitStore, "the store could not be used"},
	{exitGate, "a result is beyond a threshold of --fail-if, misses an objective, or could not be judged"},
	{exitHungUp, "ended by SIGHUP (the terminal was closed); what was finished is stored"},
	{exitInterrupted, "interrupted; what was finished is stored"},
	{exitTerminated, "terminated by SIGTERM; what was finished is stored"},
}

// exitCodes is the annotation of a command whose help lists the exit codes.
func exitCodes() map[string]string {
	var table strings.Builder
	for _, e := range ExitCodes {
		fmt.Fprintf(&table, "  %3d  %s\n", e.Code, e.Meaning)
	}
	return map[string]string{"exit codes": table.String()}
}

// failure is an error with the exit code that the program ends with, and a hint what the user can do about it. It keeps both
// when another error wraps it.
type failure struct {
	code int
	hint string // a sentence or a command; "": there is nothing to do
	err  error  // nil: it has been printed already
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// badInput returns an error about the user's input.
func badInput(format string, args ...any) error {
	return &failure{code: exitInput, err: fmt.Errorf(format, args...)}
}

// hinted adds a hint to an error.
func hinted(err error, hint string, args ...any) error {
	return &failure{code: codeOf(err), err: err, hint: fmt.Sprintf(hint, args...)}
}

// brokerFailed gives an error of installing, starting or finding a broker its exit code, unless it has one of its own.
func brokerFailed(err error) error {
	if err == nil || codeOf(err) != exitInternal {
		return err
	}
	return &failure{code: exitBroker, err: err}
}

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code
	}
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case store.ProblemOf(err) != "":
		return exitStore
	case is[*study.Errors](err), is[*provision.ErrRefused](err), is[*provision.ErrSetting](err), is[*driver.ErrUnsupported](err):
		return exitInput
	case is[*provision.ErrMissing](err), is[*provision.ErrAltered](err), is[*provision.ErrPortInUse](err), is[*provision.ErrNotReady](err),
		is[*provision.ErrDied](err), is[*provision.ErrNoDisk](err):
		return exitBroker
	}
	return exitInternal
}

func is[T error](err error) bool {
	var e T
	return errors.As(err, &e)
}

// storeHints tell the user how to solve a problem of a store.
var storeHints = map[store.Problem]string{
	store.Locked:      "wait for the other process to end, or name another file with --store",
	store.Full:        "make room, or name a file on another disk with --store",
	store.Unreachable: "is the server running, and does it accept connections from this machine?",
	store.Denied:      "a password may also come from PGPASSWORD or ~/.pgpass",
	store.Corrupt:     "sqlite3 FILE .recover writes what is left as SQL; a copy of the file, or what was exported, can be imported into another store",
	store.Other:       "name another file with --store",
}

// hintOf returns how the user can solve an error, or "".
func hintOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok && f.hint != "" {
		return f.hint
	}
	if unstored, ok := errors.AsType[*store.Unstored](err); ok {
		return fmt.Sprintf("they are stored by the next run with this store, or by: brokermark import %s --store %s", shellWords(unstored.Paths), shellWord(unstored.Store))
	}
	if is[*provision.ErrNoDisk](err) {
		return "make room, or choose another directory with BROKERMARK_HOME"
	}
	if is[*results.ErrUnknownMetric](err) {
		return "brokermark list metrics shows all"
	}
	return storeHints[store.ProblemOf(err)]
}

// codeOfTally returns the exit code for the repetitions of a run.
func codeOfTally(t lab.Tally) int {
	switch {
	case t.Aborted > t.Lost:
		return exitInterrupted
	case t.Unstarted > 0:
		return exitBroker
	case t.Failed+t.Lost > 0:
		return exitFailed
	case t.Void > 0:
		return exitVoid
	case t.Refused > 0 && t.OK == 0:
		return exitInput
	}
	return exitFine
}

// group runs a command that only has subcommands: it prints the help, or an error about a word that is no subcommand.
func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	names := lists.Map(lists.Filter(c.Commands(), (*cobra.Command).IsAvailableCommand), (*cobra.Command).Name)
	unknown := badInput("unknown command %q for %q%s", args[0], c.CommandPath(), suggest.DidYouMean(args[0], names))
	if _, err := os.Stat(args[0]); err == nil && !c.HasParent() {
		return hinted(unknown, "to run a file: brokermark run %s", args[0])
	}
	return hinted(unknown, "commands: %s", strings.Join(names, ", "))
}

// badFlag is cobra's FlagErrorFunc. It says which flag an unknown one is nearest to.
func badFlag(c *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.") // what follows repeats the flag and its value
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := missing.GetSpecifiedName()
		text = fmt.Sprintf("unknown flag --%s for %q", name, c.CommandPath())
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near := suggest.Nearest(name, known); near != "" {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	return hinted(badInput("%s", text), "%s --help", c.CommandPath())
}

// arguments makes bad input of cobra's errors about the number of arguments.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			if c.HasAvailableSubCommands() {
				return group(c, args)
			}
			return hinted(badInput("%w", err), "%s", c.UseLine())
		}
		return nil
	}
}
