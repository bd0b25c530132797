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

// group runs a command that only has subcommands: it prints the help, or an error about a word that is no subcommand.
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
			return hinted(badInput("%w", err), "%s", c.UseLine())
		}
		return nil
	}
}
