package qpid

import (
	"context"
	"fmt"
	"net"
	"regexp"

	"github.com/brokermark/brokermark/internal/provision"
)

var newRole = regexp.MustCompile(`HA-1010 : Role change reported: Node : '(\S+)' \(\S+\) : from '\w+' to '(\w+)'`)

// role returns the last role that the node has logged.
func role(n *provision.Node) (string, error) {
	log, err := n.Log()
	if err != nil {
		return "", err
	}
	last := ""
	for _, m := range newRole.FindAllStringSubmatch(string(log), -1) {
		if m[1] == n.Name() {
			last = m[2]
		}
	}
	if last != "MASTER" && last != "REPLICA" {
		return "", fmt.Errorf("%s is neither master nor replica yet: %q", n.Name(), last)
	}
	return last, nil
}

// formed waits until the master serves and all others follow it.
func formed(ctx context.Context, c *provision.Cluster) error {
	if len(c.Nodes) == 1 {
		return nil
	}
	master, err := leader(ctx, c)
	if err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if r, err := role(n); err != nil || n.ID != master && r != "REPLICA" {
			return fmt.Errorf("%s is %s: %w", n.Name(), r, err)
		}
	}
	return nil
}

// inSync counts the master and its followers: since the master waits for a majority of them, they can't be far behind.
func inSync(ctx context.Context, c *provision.Cluster) (int, error) {
	if _, err := leader(ctx, c); err != nil {
		return 0, err
	}
	in := 0
	for _, n := range c.Nodes {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", n.At("group"))
		if err != nil {
			continue // the last role in its log is no longer true
		}
		_ = conn.Close()
		if _, err := role(n); err == nil {
			in++
		}
	}
	return in, nil
}

// leader returns the node that has the virtual host.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	id, err := provision.Ask(c, func(n *provision.Node) (int, error) { return n.ID, serves(ctx, n) })
	if err != nil {
		return 0, fmt.Errorf("no node is master: %w", err)
	}
	return id, nil
}
