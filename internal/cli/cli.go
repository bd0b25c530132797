// Package cli is the program as its users meet it: commands, flags, progress, hints and exit codes. It decides
// nothing about how anything is measured.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/crash"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/secret"
	_ "github.com/brokermark/brokermark/reports"
)

// shell holds the input and the outputs of a command.
type shell struct {
	in       io.Reader
	out, err io.Writer
	watched  *crash.Inside // connection to the process that records the current repetition if this one crashes; nil: there is none
	idle     atomic.Bool   // the command reads and computes, and has started or written nothing yet
}

// main runs the program with args, without its name. It returns the exit code and never panics. When ctx ends, what is under way is
// recorded as aborted and cleaned up before main returns.
func (s *shell) main(ctx context.Context, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = s.crashed(r)
		}
	}()
	if err := openSecrets(args); err != nil {
		return s.ended(ctx, err)
	}
	root := s.root()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // cobra never frees what completes a flag
		complete(root)
	}
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.InitDefaultCompletionCmd() // cobra's would print its help for an unknown shell, and exit with 0
	root.InitDefaultHelpCmd()       // cobra's would do so for an unknown command
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = cobra.ArbitraryArgs, group
		case "help":
			c.Run, c.RunE = nil, helpFor
		}
	}
	return s.ended(ctx, root.ExecuteContext(ctx))
}

// ended prints an error with its hint, and returns the exit code for it.
func (s *shell) ended(ctx context.Context, err error) int {
	if err == nil {
		return exitFine
	}
	f, isFailure := errors.AsType[*failure](err)
	printed := isFailure && f.err == nil
	code := codeOf(err)
	if ctx.Err() != nil || code == exitInterrupted {
		if !printed {
			fmt.Fprintln(s.err, "brokermark: interrupted")
		}
		return interruption(ctx)
	}
	if printed {
		return code
	}
	for line := range strings.Lines(render.CleanLines(secret.Redact(err.Error()))) { // it may quote a broker or an agent
		if !strings.HasPrefix(line, "  ") { // lines from a broker's log are indented
			line = "brokermark: " + line
		}
		fmt.Fprintln(s.err, strings.TrimRight(line, "\n"))
	}
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(s.err, "hint: "+hint)
	}
	return code
}

// interruption returns the exit code of a program whose context a signal has ended: 128 and the number of the signal.
func interruption(ctx context.Context) int {
	if s, ok := errors.AsType[bySignal](context.Cause(ctx)); ok {
		return 128 + int(s)
	}
	return exitInterrupted
}

// usage is cobra's template with the examples last, and lines that fit 80 columns.
const usage = `Usage:
  {{if .HasParent}}{{.UseLine}}{{else}}brokermark COMMAND [flags]{{end}}
{{- if .HasAvailableSubCommands}}

Commands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 79 | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasAvailableInheritedFlags}}

Flags of {{.Parent.CommandPath}}:
{{.InheritedFlags.FlagUsagesWrapped 79 | trimTrailingWhitespaces}}
{{- end}}
{{- with index .Annotations "exit codes"}}

Exit codes:
{{. | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
`

func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "brokermark",
		Short: "Which message broker, with which settings, for my workload, on my machines?",
		Long: `Brokermark starts real brokers (or attaches to yours), finds what each can
sustain, proves what each delivered and accounts for what it cost.`,
		Annotations:   exitCodes(),
		Example:       "  brokermark run\n  brokermark run --broker kafka,jetstream --size 100,1KiB --measure sustainable\n  brokermark report",
		Version:       toolVersion(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          group,
	}
	root.SetFlagErrorFunc(badFlag)
	root.SetUsageTemplate(usage)
	root.SetVersionTemplate(versionLine())
	root.AddCommand(
		s.adviseCommand(), s.tuneCommand(), s.runCommand(), s.checkCommand(), s.reportCommand(), s.compareCommand(), s.serveCommand(), s.exportCommand(),
		s.figureCommand(), s.bundleCommand(), s.importCommand(), s.listCommand(), s.brokerCommand(), s.pipelineCommand(), s.agentCommand(), s.cleanCommand(), s.doctorCommand(), s.versionCommand(),
	)
	return root
}

// helpFor shows the help of the command that the arguments name.
func helpFor(help *cobra.Command, args []string) error {
	about, rest, err := help.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 && (!about.HasParent() || about.HasSubCommands()) {
		return group(about, rest)
	}
	if len(rest) > 0 {
		return badInput("%q has no command %q", about.CommandPath(), rest[0])
	}
	about.InitDefaultHelpFlag()
	about.InitDefaultVersionFlag()
	return about.Help()
}

// Command returns the command with all its subcommands, of which manuals and completions are made.
func Command() *cobra.Command { return (&shell{}).root() }

// watched are the commands that use client libraries, which may panic in goroutines of their own. Another process of the program
// starts such a command, waits for it, and reports a crash.
var watched = []string{"run", "advise", "tune", "pipeline", "broker"}

// Program runs the program with the arguments, streams and signals of this process, and returns its exit code.
func Program() int {
	args := os.Args[1:]
	if len(args) > 0 && slices.Contains(watched, args[0]) {
		if e, err := crash.Watch(args); err == nil { // a machine that allows no further process runs it unwatched
			return (&shell{in: os.Stdin, out: os.Stdout, err: os.Stderr}).after(e)
		}
	}
	inside, args := crash.Enter(args)
	s := &shell{in: os.Stdin, out: os.Stdout, err: os.Stderr, watched: inside}
	ctx, stop := s.interruptible(context.Background())
	defer stop()
	code := s.main(ctx, args)
	inside.End()
	return code
}

// bySignal is the cause of a context that a signal has ended.
type bySignal syscall.Signal

func (s bySignal) Error() string { return "ended by a signal: " + syscall.Signal(s).String() }

// oneSignal is how close together two equal signals are one: GNU timeout sends its signal to the program and, at once, to the
// program's group.
const oneSignal = time.Second

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP ends, so that a run can record and clean up. The
// second one ends the program at once, as the first one does where there is nothing to clean up; brokers end with it, because their supervisors
// notice. A terminal that closes sends SIGHUP more than once, so a later SIGHUP is no second one.
func (s *shell) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	own := make(chan os.Signal, 2)
	var signals <-chan os.Signal = own
	if s.watched != nil {
		signals = s.watched.Signals
	} else {
		signal.Notify(own, crash.Signals()...)
	}
	go func() {
		first := <-signals
		came := time.Now()
		cancel(bySignal(first.(syscall.Signal)))
		if s.idle.Load() {
			fmt.Fprintln(s.err, "brokermark: interrupted")
			s.watched.End()
			os.Exit(interruption(ctx))
		}
		for second := <-signals; second == syscall.SIGHUP || second == first && time.Since(came) < oneSignal; {
			second = <-signals
		}
		s.watched.End()
		os.Exit(interruption(ctx))
	}()
	return ctx, func() { signal.Stop(own); cancel(nil) }
}
