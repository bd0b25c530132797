package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// Main runs the program as main does, with these streams.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&shell{in: stdin, out: stdout, err: stderr}).main(ctx, args)
}

// Usage is a command such as "brokermark broker up" with the examples in its help.
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
