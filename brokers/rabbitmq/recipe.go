package rabbitmq

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// debianServer is Debian 12's; the scripts in /usr/sbin insist on root.
const debianServer = "/usr/lib/rabbitmq/lib/rabbitmq_server-3.10.8"

func init() {
	provision.Register(provision.Recipe{
		Broker: "rabbitmq",
		Versions: []provision.Version{
			{Name: "4.0.5", Needs: []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}},
			{
				Name:  "3.10.8",
				Doubt: "RabbitMQ 3.10 is from 2022 and out of support; 4.0 has another storage for classic queues",
				Needs: []provision.Need{{Command: debianServer + "/sbin/rabbitmq-server", Apt: []string{"rabbitmq-server"}}},
			},
		},
		Ports:     []string{"client", "dist", "epmd"},
		MaxNodes:  7,
		TLS:       true,
		Install:   install,
		Configure: configure,
		Command:   func(n *provision.Node) (provision.Command, error) { return command(n, "rabbitmq-server") },
		Ready:     ready,
		Formed:    formed,
		Leader:    leader,
		Stop:      stop,
	})
}

// install unpacks Debian 13's server with its own C library. Version 3.10.8 needs nothing beside its package.
func install(ctx context.Context, i *provision.Install) error {
	if i.Version == "3.10.8" {
		return nil
	}
	err := i.AptTree(ctx, "trixie", "rabbitmq-server", "bubblewrap")
	if err == nil {
		_, err = os.Stat(serverIn(i.Dir, i.Version)) // Debian may have moved on
	}
	return err
}

// serverIn is the server's own directory, of one installed below dir where it isn't the machine's.
func serverIn(dir, version string) string {
	if version == "3.10.8" {
		return debianServer
	}
	return filepath.Join(dir, "tree/usr/lib/rabbitmq/lib/rabbitmq_server-"+version)
}

func configure(_ context.Context, n *provision.Node) error {
	c := n.Cluster
	if c.Facts["cookie"] == "" {
		c.Facts["cookie"] = rand.Text()
	}
	text, err := conf(n, serverIn(c.Install, c.Version))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(n.Dir, "rabbitmq.conf"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(n.Dir, "enabled_plugins"), []byte("[].\n"), 0o644),
		os.WriteFile(filepath.Join(n.Dir, ".erlang.cookie"), []byte(c.Facts["cookie"]), 0o400))
}

// ready asks for the cluster's name, which only this instance has; the server gives it in its first frame, so that no
// management plugin has to run (and cost) beside what is measured.
func ready(ctx context.Context, n *provision.Node) error {
	values, err := driver.Decode(settings, driver.ClientScope, nil)
	if err != nil {
		return err
	}
	probe := &rabbit{cfg: driver.Config{Client: values}}
	if n.Cluster.TLS != nil {
		if probe.cfg.Target.TLS, err = n.Cluster.TLS.ClientConfig(); err != nil {
			return err
		}
	}
	l, err := probe.dialNode(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Ports["client"])))
	if err != nil {
		return err
	}
	defer l.close()
	if name := l.conn.Properties["cluster_name"]; name != n.Cluster.ID {
		return fmt.Errorf("port %d is answered by another cluster: %v", n.Ports["client"], name)
	}
	return nil
}

func formed(ctx context.Context, c *provision.Cluster) error {
	if len(c.Nodes) == 1 {
		return nil
	}
	_, err := control(ctx, c.Nodes[0], "await_online_nodes", strconv.Itoa(len(c.Nodes)))
	return err
}

// leader is the node that leads most queues; every quorum queue elects its own.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	var errs []error
	for _, asked := range c.Nodes { // any may be down
		out, err := control(ctx, asked, "list_queues", "leader")
		if err != nil {
			errs = append(errs, err)
			continue
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
	return 0, errors.Join(errs...)
}
