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
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/secret"
	_ "github.com/brokermark/brokermark/reports"
)

// shell is what a command may read from and write to.
type shell struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the program: args without its name, and the streams. It returns the exit code and never panics. When ctx
// ends, what is under way is recorded as aborted and cleaned up before Main returns.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	s := &shell{in: stdin, out: stdout, err: stderr}
	defer func() {
		if r := recover(); r != nil {
			code = s.crashed(r)
		}
	}()
	if err := openSecrets(args); err != nil {
		return s.ended(ctx, err)
	}
	root := s.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return s.ended(ctx, root.ExecuteContext(ctx))
}

// ended says what went wrong and how the program ends.
func (s *shell) ended(ctx context.Context, err error) int {
	if err == nil {
		return exitFine
	}
	var f *failure
	code := codeOf(err)
	if ctx.Err() != nil {
		code = exitInterrupted
	}
	said := errors.As(err, &f) && f.err == nil
	switch {
	case code == exitInterrupted && !said:
		fmt.Fprintln(s.err, "brokermark: interrupted")
		fallthrough
	case code == exitInterrupted:
		return interruption(ctx)
	case said:
		return code
	}
	for line := range strings.Lines(secret.Redact(err.Error())) {
		if strings.HasPrefix(line, "  ") { // the end of a broker's log
			fmt.Fprintln(s.err, strings.TrimRight(line, "\n"))
			continue
		}
		fmt.Fprintln(s.err, "brokermark: "+strings.TrimRight(line, "\n"))
	}
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(s.err, "hint: "+hint)
	}
	return code
}

// crashed keeps the trace of a panic for a report and spares the user.
func (s *shell) crashed(panicked any) int {
	trace := fmt.Sprintf("%s\nbrokermark %s\n%v\n\n%s", time.Now().Format(time.RFC3339), toolVersion(), panicked, debug.Stack())
	trace = secret.Redact(trace)
	where := "with what you did"
	if path, err := keepTrace(trace); err == nil {
		where = "and attach " + path
	}
	fmt.Fprintf(s.err, "brokermark: internal error: %v; please report it %s\n", secret.Redact(fmt.Sprint(panicked)), where)
	return exitInternal
}

// keepTrace writes to a file of a name that nobody could know before: one that somebody had put a link there under would
// write over the link's end.
func keepTrace(trace string) (path string, err error) {
	f, err := os.CreateTemp("", "brokermark-crash-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(trace)
	return f.Name(), errors.Join(err, f.Close())
}

// errTerminated is why a context ended that SIGTERM has ended.
var errTerminated = errors.New("terminated")

// Interruptible returns a context that the first SIGINT or SIGTERM ends, so that a run can record and clean up. The
// second one ends the program at once; brokers end with it, because their supervisors notice.
func Interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		if first := <-signals; first == syscall.SIGTERM {
			cancel(errTerminated)
		} else {
			cancel(context.Canceled)
		}
		<-signals
		os.Exit(interruption(ctx))
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// interruption is the exit code of a program whose context has ended: 128 and the number of the signal.
func interruption(ctx context.Context) int {
	if errors.Is(context.Cause(ctx), errTerminated) {
		return exitTerminated
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
	root.SetFlagErrorFunc(unknownFlag)
	root.SetUsageTemplate(usage)
	root.SetVersionTemplate(versionLine())
	root.AddCommand(
		s.runCommand(), s.checkCommand(), s.reportCommand(), s.compareCommand(), s.serveCommand(), s.exportCommand(),
		s.figureCommand(), s.importCommand(), s.listCommand(), s.brokerCommand(), s.pipelineCommand(), s.cleanCommand(), s.doctorCommand(), s.versionCommand(),
	)
	complete(root)
	return root
}

// Command is the whole command line, for manuals and completions made from it.
func Command() *cobra.Command { return (&shell{}).root() }

// Usage is a command's path with its examples, for documents and tests made from the help.
type Usage struct{ Path, Example string }

// Commands lists every command that users type, in the order of the help.
func Commands() []Usage {
	var list []Usage
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.HasParent() && c.Example != "" || !c.HasParent() {
			list = append(list, Usage{c.CommandPath(), c.Example})
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&shell{}).root())
	return list
}
