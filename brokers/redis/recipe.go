package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/debian"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/provision"
)

// source is the origin of a version: a suite of Debian, and the server's name there.
type source struct{ suite, server string }

var sources = map[string]source{
	"8.0.2":        {"trixie", "redis-server"},
	"valkey-8.1.1": {"trixie", "valkey-server"},
	"7.0.15":       {"bookworm", "redis-server"},
}

// recipe starts one server that is used in two ways: streams and pub/sub.
func recipe() *provision.Recipe {
	needs := []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}
	return &provision.Recipe{
		Versions: []provision.Version{
			{Name: "8.0.2", Needs: needs},
			{Name: "valkey-8.1.1", Needs: needs},
			{Name: "7.0.15", Needs: needs, Doubt: "Redis 7.0 is from 2022 and out of support"},
		},
		Ports: []string{"client"}, MaxNodes: 6, TLS: true, Mutual: true, Login: true, AnyAddress: true,
		Install: install, Configure: configure, Command: command, Ready: ready, Formed: formed, Leader: leader, InSync: inSync,
	}
}

func install(ctx context.Context, i *provision.Install) error {
	s := sources[i.Version]
	return debian.Install(ctx, i, s.suite, "v="+strings.TrimPrefix(i.Version, "valkey-"), "usr/bin/"+s.server, "--version", s.server)
}

func command(n *provision.Node) (provision.Command, error) {
	return debian.Command(n, "usr/bin/"+sources[n.Cluster.Version].server, conf(n))
}

// ask opens a connection to the node and reads one section of INFO.
func ask(ctx context.Context, n *provision.Node, section string) (map[string]string, error) {
	client, err := probe(n)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return info(ctx, client, section)
}

// probe opens a connection to the node.
func probe(n *provision.Node) (*redis.Client, error) {
	c, err := reach.Config(n, connectionSettings, nil)
	if err != nil {
		return nil, err
	}
	if password := n.Cluster.Settings["requirepass"]; password != nil {
		c.Target.Password = fmt.Sprint(password)
	}
	return (&session{config: c}).dial(c.Target.Addresses[0], nil), nil
}

// ready checks the path of the server's configuration file, which only this instance has.
func ready(ctx context.Context, n *provision.Node) error {
	about, err := ask(ctx, n, "server")
	if err != nil {
		return err
	}
	if about["config_file"] != conf(n) {
		return fmt.Errorf("port %d is answered by another server: %s", n.Ports["client"], about["config_file"])
	}
	about, err = ask(ctx, n, "persistence")
	if err == nil && about["loading"] != "0" { // INFO works while loading, other commands don't
		err = errors.New("it still reads what it had stored")
	}
	return err
}

// formed waits until every replica has the primary's data.
func formed(ctx context.Context, c *provision.Cluster) error {
	about, err := ask(ctx, c.Nodes[0], "replication")
	if err != nil {
		return err
	}
	if n := online(about); n != len(c.Nodes)-1 {
		return fmt.Errorf("%d of %d replicas are online", n, len(c.Nodes)-1)
	}
	return nil
}

// leader is the node that accepts writes.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	return provision.Ask(c, func(n *provision.Node) (int, error) {
		about, err := ask(ctx, n, "replication")
		if err == nil && about["role"] != "master" {
			err = fmt.Errorf("node %d takes no writes", n.ID)
		}
		return n.ID, err
	})
}
