// Package rabbitserver is what the recipes of RabbitMQ's protocols share: the server's versions, installation, settings,
// cluster and end. It knows nothing of clients.
package rabbitserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// suites are the suites of Debian that have the versions.
var suites = map[string]string{"4.0.5": "trixie", "3.10.8": "bookworm"}

// StoredApart is the size in bytes from which a classic queue keeps messages in another store than smaller ones
// (queue_index_embed_msgs_below). A server that is killed may have written either of two messages that it had not confirmed.
const StoredApart = 4096

// Protocol is one way to talk to the server.
type Protocol struct {
	Plugin string // that has to be enabled for it; empty: none
	// Ours are the keys of rabbitmq.conf, and all that begin with them and a dot, that Listen sets.
	Ours []string
	// Listen has the keys that make the node listen on its client port, and on nothing else.
	Listen func(n *provision.Node) map[string]string
	// SinceFour leaves out versions before 4, which speak the protocol differently or not at all.
	SinceFour bool
	// Ready is the recipe's.
	Ready func(ctx context.Context, n *provision.Node) error
}

// Recipe starts RabbitMQ with one protocol on its client port.
func Recipe(p Protocol) *provision.Recipe {
	r := &provision.Recipe{
		Product: "rabbitmq",
		Versions: []provision.Version{
			{
				Name:  "4.0.5",
				Doubt: "RabbitMQ 4.0 is from 2024; its makers support the newest series only, and 4.1 came in 2025. Debian has no newer one",
				Needs: []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}},
			},
			{
				Name:  "3.10.8",
				Doubt: "RabbitMQ 3.10 is from 2022 and out of support; 4.0 has another storage for classic queues",
				Needs: []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}},
			},
		},
		Ports:     []string{"client", "dist", "epmd", managementPort},
		MaxNodes:  7,
		TLS:       true,
		Plain:     "replication, which is Erlang's own protocol",
		Mutual:    true,
		Login:     true,
		Install:   install,
		Configure: func(_ context.Context, n *provision.Node) error { return p.configure(n) },
		Command:   func(n *provision.Node) (provision.Command, error) { return command(n, "rabbitmq-server") },
		Ready:     p.Ready,
		Formed:    formed,
		Leader:    leader,
		InSync:    inSync,
		Stop:      stop,
		Profiler:  profiler,
		Endpoints: endpoints,
	}
	if p.SinceFour {
		r.Versions = slices.DeleteFunc(r.Versions, func(v provision.Version) bool { return strings.HasPrefix(v.Name, "3.") })
	}
	return r
}

// ListenAMQP returns the keys for the port of AMQP, 0-9-1 and 1.0 alike.
func ListenAMQP(n *provision.Node) map[string]string {
	if n.Cluster.TLS == nil {
		return map[string]string{"listeners.tcp.1": n.Address()}
	}
	return map[string]string{"listeners.tcp": "none", "listeners.ssl.1": n.Address()}
}

// install unpacks Debian's server with its own C library. Installing the package would make it a system service that
// listens on all interfaces from the next boot on.
func install(ctx context.Context, i *provision.Install) error {
	err := i.AptTree(ctx, suites[i.Version], "rabbitmq-server", "bubblewrap")
	if err == nil {
		_, err = os.Stat(serverIn(i.Dir, i.Version)) // Debian may have moved on
	}
	return err
}

// serverIn returns the directory of the server that is installed below dir.
func serverIn(dir, version string) string {
	return filepath.Join(dir, "tree/usr/lib/rabbitmq/lib/rabbitmq_server-"+version)
}

func (p Protocol) configure(n *provision.Node) error {
	c := n.Cluster
	if c.Facts["cookie"] == "" {
		c.Facts["cookie"] = rand.Text()
	}
	text, err := p.conf(n, serverIn(c.Install, c.Version))
	if err != nil {
		return err
	}
	return errors.Join(
		n.Write("rabbitmq.conf", []byte(text)),
		n.Write("enabled_plugins", []byte(p.plugins(c))),
		n.Write(".erlang.cookie", []byte(c.Facts["cookie"])))
}

func formed(ctx context.Context, c *provision.Cluster) error {
	if len(c.Nodes) > 1 {
		if _, err := control(ctx, c.Nodes[0], "await_online_nodes", strconv.Itoa(len(c.Nodes))); err != nil {
			return err
		}
	}
	return setPolicy(ctx, c)
}

// leader returns the node that leads most queues; every replicated queue and every stream elects its own.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	out, err := provision.Ask(c, func(asked *provision.Node) (string, error) {
		return control(ctx, asked, "list_queues", "leader", "pid") // a classic queue has a process alone
	})
	if err != nil {
		return 0, fmt.Errorf("ask for the leader: %w", err)
	}
	best, most := 0, 0
	for _, n := range c.Nodes {
		if led := strings.Count(out, nodeName(n)); led > most {
			best, most = n.ID, led
		}
	}
	if best == 0 {
		return 0, errors.New("no queue has a leader")
	}
	return best, nil
}
