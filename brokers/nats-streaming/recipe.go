package natsstreaming

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	module = "github.com/nats-io/nats-streaming-server"
	old    = "0.17.0"
)

// locks are the modules of each version, with their SHA-256.
//
//go:embed locks
var locks embed.FS

func recipe() *provision.Recipe {
	needsGo := []provision.Need{{Command: "go", Apt: []string{"golang-go"}}}
	return &provision.Recipe{
		Versions: []provision.Version{
			{Name: "0.25.6", Needs: needsGo, Doubt: "NATS Streaming has reached its end of life in 2023; its makers point to JetStream"},
			{Name: old, Needs: needsGo, Doubt: "NATS Streaming 0.17 is from 2020, with NATS server 2.1.4; its makers ended it in 2023 and point to JetStream"},
		},
		Ports: []string{"client", "monitor", "route"}, MaxNodes: 5, TLS: true, Mutual: true, Login: true, Plain: "routes, which replicate",
		Install: func(ctx context.Context, i *provision.Install) error {
			return i.GoInstall(ctx, locks, module)
		},
		Configure: configure, Command: command, Ready: ready, Formed: formed, Leader: leader,
		Endpoints: func(n *provision.Node) map[string]string {
			return map[string]string{"monitor": "http://" + n.At("monitor")}
		},
	}
}

func command(n *provision.Node) (provision.Command, error) {
	return provision.Command{Path: filepath.Join(n.Cluster.Install, "bin", "nats-streaming-server"), Args: []string{"-c", conf(n)}}, nil
}

// ready asks the monitoring port for the name of the nats-server inside, which is this instance's alone, and for the
// streaming server, which has no page before it has started.
func ready(ctx context.Context, n *provision.Node) error {
	if err := natsio.Ready(ctx, n); err != nil {
		return err
	}
	if _, err := role(ctx, n); err != nil || len(n.Cluster.Nodes) > 1 {
		return err
	}
	return answered(n)
}

// answered becomes a client for a moment: the pages are there a little before the server listens to clients.
func answered(n *provision.Node) error {
	config, err := reach.Config(n, settings, nil)
	if err != nil {
		return err
	}
	l, err := (&driving{config: config, dialer: natsio.NewDialer(config)}).dial(clientID("ready"), 1)
	if err != nil {
		return err
	}
	l.close()
	return nil
}

// role is the role of a node in its cluster: Leader or Follower.
func role(ctx context.Context, n *provision.Node) (string, error) {
	var about struct{ State, Role string }
	if err := natsio.Monitor(ctx, n, "/streaming/serverz", &about); err != nil {
		return "", err
	}
	if want := map[bool]string{false: "STANDALONE", true: "CLUSTERED"}[len(n.Cluster.Nodes) > 1]; about.State != want {
		return "", fmt.Errorf("node %d is %s, not %s", n.ID, about.State, want)
	}
	return about.Role, nil
}

// formed waits until all nodes know each other and one of them leads.
func formed(ctx context.Context, c *provision.Cluster) error {
	if len(c.Nodes) == 1 {
		return nil
	}
	if err := natsio.Routed(ctx, c); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if r, err := role(ctx, n); err != nil || r != "Leader" && r != "Follower" {
			return errors.Join(fmt.Errorf("node %d is %q", n.ID, r), err)
		}
	}
	if _, err := leader(ctx, c); err != nil {
		return err
	}
	return answered(c.Nodes[0])
}

func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	return provision.Ask(c, func(n *provision.Node) (int, error) {
		r, err := role(ctx, n)
		if err == nil && r != "Leader" {
			err = fmt.Errorf("node %d doesn't lead", n.ID)
		}
		return n.ID, err
	})
}
