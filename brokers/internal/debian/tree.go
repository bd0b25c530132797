// Package debian runs servers out of a tree of Debian packages that lies in a directory of its own. It knows nothing
// of any particular server.
package debian

import (
	"context"

	"github.com/brokermark/brokermark/internal/provision"
)

// Install unpacks packages of a suite with their own C library, and looks whether program, started with flag, names
// the version that was asked for: Debian may have moved on.
func Install(ctx context.Context, i *provision.Install, suite, version, program, flag string, packages ...string) error {
	if err := i.AptTree(ctx, suite, packages...); err != nil {
		return err
	}
	c, err := provision.TreeCommand(i.Dir, program, flag)
	if err != nil {
		return err
	}
	// Mosquitto ends its help with code 3; what matters is the version in the text.
	script := `case "$("$@" 2>&1)" in *"` + version + `"*) ;; *) echo "not ` + version + `"; exit 1;; esac`
	return i.Exec(ctx, i.Dir, "sh", append([]string{"-c", script, "sh", c.Path}, c.Args...)...)
}

// Command runs a program of the node's tree; see provision.TreeCommand.
func Command(n *provision.Node, program string, args ...string) (provision.Command, error) {
	return provision.TreeCommand(n.Cluster.Install, program, args...)
}
