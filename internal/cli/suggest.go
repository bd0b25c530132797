package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brokermark/brokermark/internal/suggest"
)

// group answers a command that only holds others: with its help, or about the word that is none of them.
func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	complaint := fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), suggest.DidYouMean(args[0], names))
	if _, err := os.Stat(args[0]); err == nil && !c.HasParent() {
		return hinted(&failure{code: exitInput, err: complaint}, "to run a file: brokermark run %s", args[0])
	}
	return hinted(&failure{code: exitInput, err: complaint}, "commands: %s", strings.Join(names, ", "))
}

// unknownFlag adds the nearest flag to pflag's complaint.
func unknownFlag(c *cobra.Command, err error) error {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	text := err.Error()
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		text = fmt.Sprintf("unknown flag --%s for %q", missing.GetSpecifiedName(), c.CommandPath())
		if near := suggest.Nearest(missing.GetSpecifiedName(), names); near != "" {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	text, _, _ = strings.Cut(text, ": strconv.") // the flag and what was given say it already
	return hinted(&failure{code: exitInput, err: errors.New(text)}, "%s --help", c.CommandPath())
}

// arguments turns cobra's complaints about the number of arguments into bad input.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return hinted(&failure{code: exitInput, err: err}, "%s", c.UseLine())
		}
		return nil
	}
}
