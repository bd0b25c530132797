// Package debian runs servers from Debian packages that it unpacks into one directory. It knows nothing of any particular
// server.
package debian

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	said, err := i.Run(ctx, c) // Mosquitto ends its help with code 3; what matters is the version in the text
	if !strings.Contains(said, version) {
		return errors.Join(fmt.Errorf("%s is not of %s", program, version), err)
	}
	return nil
}

// Command runs a program of the node's tree; see provision.TreeCommand.
func Command(n *provision.Node, program string, args ...string) (provision.Command, error) {
	return provision.TreeCommand(n.Cluster.Install, program, args...)
}
