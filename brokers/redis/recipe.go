package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/debian"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// source is where a version comes from: a suite of Debian, and the server's name there.
type source struct{ suite, server string }

var sources = map[string]source{
	"8.0.2":        {"trixie", "redis-server"},
	"valkey-8.1.1": {"trixie", "valkey-server"},
	"7.0.15":       {"bookworm", "redis-server"},
}

func init() {
	needs := []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}
	provision.Register(provision.Recipe{
		Broker: "redis",
		Versions: []provision.Version{
			{Name: "8.0.2", Needs: needs},
			{Name: "valkey-8.1.1", Needs: needs},
			{Name: "7.0.15", Needs: needs, Doubt: "Redis 7.0 is from 2022 and out of support"},
		},
		Ports: []string{"client"}, MaxNodes: 6, TLS: true,
		Install: install, Configure: configure, Command: command, Ready: ready, Formed: formed, Leader: leader,
	})
}

func install(ctx context.Context, i *provision.Install) error {
	s := sources[i.Version]
	return debian.Install(ctx, i, s.suite, "v="+strings.TrimPrefix(i.Version, "valkey-"), "usr/bin/"+s.server, "--version", s.server)
}

// ours are the settings, or the beginnings of their names, that the recipe decides.
var ours = []string{
	"bind", "port", "tls-port", "tls-cert", "tls-key", "tls-ca", "tls-replication", "dir", "daemonize", "pidfile", "logfile",
	"supervised", "include", "unixsocket", "replicaof", "slaveof", "cluster-", "user", "aclfile", "masterauth", "enable-debug-command",
}

// last is no setting. The server reads its file line by line and ends at the first one it won't have: if that is this
// one, it has accepted all others, in name and value.
const last = "end-of-what-was-asked-for"

var complaint = regexp.MustCompile(`(?s)>>> '(\S+).*?'\n(.*)`)

func configure(ctx context.Context, n *provision.Node) error {
	text := "save \"\"\nset-proc-title no\n"
	for _, name := range slices.Sorted(maps.Keys(n.Cluster.Settings)) {
		value := fmt.Sprint(n.Cluster.Settings[name])
		if f, ok := n.Cluster.Settings[name].(float64); ok {
			value = strconv.FormatFloat(f, 'f', -1, 64)
		}
		if slices.ContainsFunc(ours, func(o string) bool { return strings.HasPrefix(strings.ToLower(name), o) }) {
			return &provision.ErrSetting{Name: name, Reason: "it is set by the recipe, so that the broker is found and alone"}
		}
		if value == "" {
			value = `""`
		}
		if strings.ContainsAny(name+value, "\r\n") || strings.ContainsAny(name, " #\"'") {
			return &provision.ErrSetting{Name: name, Reason: "name and value must fit one line of redis.conf"}
		}
		text += name + " " + value + "\n"
	}
	if err := accepted(ctx, n, text); err != nil {
		return err
	}
	return os.WriteFile(conf(n), []byte(text+node(n)), 0o644)
}

// accepted has the server itself check the settings.
func accepted(ctx context.Context, n *provision.Node, text string) error {
	if len(n.Cluster.Settings) == 0 {
		return nil
	}
	if err := os.WriteFile(conf(n), []byte(text+last+" 1\n"), 0o644); err != nil {
		return err
	}
	c, err := command(n)
	if err != nil {
		return err
	}
	out, err := n.Run(ctx, c)
	m := complaint.FindStringSubmatch(out)
	switch {
	case m == nil:
		return fmt.Errorf("check the server settings: %w\n%s", err, out)
	case m[1] == last:
		return nil
	}
	return &provision.ErrSetting{Name: m[1], Reason: strings.TrimSpace(m[2])}
}

func conf(n *provision.Node) string { return filepath.Join(n.Dir, "redis.conf") }

// node is what makes the node ours.
func node(n *provision.Node) string {
	port := "port"
	text := fmt.Sprintf("bind 127.0.0.1\ndir %s\n", n.Data)
	if t := n.Cluster.TLS; t != nil {
		port = "tls-port"
		text += fmt.Sprintf("port 0\ntls-cert-file %s\ntls-key-file %s\ntls-ca-cert-file %s\ntls-replication yes\n", t.Cert, t.Key, t.CA)
		if _, asked := n.Cluster.Settings["tls-auth-clients"]; !asked {
			text += "tls-auth-clients optional\n"
		}
	}
	text += fmt.Sprintf("%s %d\n", port, n.Ports["client"])
	if n.ID > 1 {
		text += fmt.Sprintf("replicaof 127.0.0.1 %d\n", n.Cluster.Nodes[0].Ports["client"])
		if password := n.Cluster.Settings["requirepass"]; password != nil {
			text += fmt.Sprintf("masterauth %v\n", password)
		}
	}
	return text
}

func command(n *provision.Node) (provision.Command, error) {
	return debian.Command(n, "usr/bin/"+sources[n.Cluster.Version].server, conf(n))
}

// ask opens a connection to the node for one section of INFO.
func ask(ctx context.Context, n *provision.Node, section string) (map[string]string, error) {
	values, err := driver.Decode(connectionSettings, driver.ClientScope, nil)
	if err != nil {
		return nil, err
	}
	probe := &session{config: driver.Config{Client: values}}
	if password := n.Cluster.Settings["requirepass"]; password != nil {
		probe.config.Target.Password = fmt.Sprint(password)
	}
	if n.Cluster.TLS != nil {
		if probe.config.Target.TLS, err = n.Cluster.TLS.ClientConfig(); err != nil {
			return nil, err
		}
	}
	client := probe.dial(net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Ports["client"])))
	defer client.Close()
	return info(ctx, client, section)
}

// ready asks for the file that the server was started with, which only this instance has.
func ready(ctx context.Context, n *provision.Node) error {
	about, err := ask(ctx, n, "server")
	if err == nil && about["config_file"] != conf(n) {
		err = fmt.Errorf("port %d is answered by another server: %s", n.Ports["client"], about["config_file"])
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

// leader is the node that takes writes.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	var errs []error
	for _, n := range c.Nodes {
		about, err := ask(ctx, n, "replication")
		if err == nil && about["role"] == "master" {
			return n.ID, nil
		}
		errs = append(errs, err)
	}
	return 0, errors.Join(append(errs, errors.New("no node takes writes"))...)
}
