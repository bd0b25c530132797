package redis

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// ours are the settings, or prefixes of settings, that the recipe sets.
var ours = []string{
	"bind", "port", "tls-port", "tls-cert", "tls-key", "tls-ca", "tls-replication", "dir", "daemonize", "pidfile", "logfile",
	"supervised", "include", "unixsocket", "replicaof", "slaveof", "cluster-", "user", "aclfile", "masterauth", "masteruser", "enable-debug-command",
}

var oursInCluster = []string{"cluster-enabled", "cluster-config-file", "cluster-port", "cluster-announce"}

// The server's messages for the first setting that it refuses, and for having accepted all.
var (
	complaint = regexp.MustCompile(`>>> '(\S+)[^\n]*'\n([^\n]*)`)
	satisfied = "Configured to not listen anywhere"
)

func configure(ctx context.Context, n *provision.Node) error {
	text := "save \"\"\nset-proc-title no\n"
	for _, name := range slices.Sorted(maps.Keys(n.Cluster.Settings)) {
		value := provision.Text(n.Cluster.Settings[name])
		if name == copiesPerShard && clustered(n) { // for forming the cluster, not a setting of a server
			continue
		}
		if decided(n, strings.ToLower(name)) {
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
	return n.Write(confFile, []byte(text+node(n)))
}

// decided reports whether the recipe sets a setting.
func decided(n *provision.Node, name string) bool {
	list := ours
	if clustered(n) {
		list = slices.Concat(slices.DeleteFunc(slices.Clone(ours), func(o string) bool { return o == "cluster-" }), oursInCluster)
	}
	return slices.ContainsFunc(list, func(o string) bool { return strings.HasPrefix(name, o) })
}

func clustered(n *provision.Node) bool { return n.Cluster.Recipe.Broker == clusterName }

// accepted makes the server itself check the settings: it is started with nothing to listen on, which it notices last.
func accepted(ctx context.Context, n *provision.Node, text string) error {
	if len(n.Cluster.Settings) == 0 {
		return nil
	}
	if err := n.Write(confFile, []byte(text+"port 0\n")); err != nil {
		return err
	}
	c, err := command(n)
	if err != nil {
		return err
	}
	out, err := n.Run(ctx, c)
	if strings.Contains(out, satisfied) {
		return nil
	}
	m := complaint.FindStringSubmatch(out)
	switch {
	case m == nil:
		return fmt.Errorf("check the server settings: %w\n%s", err, out)
	case strings.Contains(m[2], "Module"): // since 8.0 an unknown name is taken for a module's
		m[2] = "the server has no such setting"
	}
	return &provision.ErrSetting{Name: m[1], Reason: m[2]}
}

const confFile = "redis.conf"

func conf(n *provision.Node) string { return filepath.Join(n.Dir, confFile) }

// node are the settings that identify the node as ours.
func node(n *provision.Node) string {
	port := "port"
	text := fmt.Sprintf("bind 127.0.0.1\ndir %s\n", n.Data)
	if t := n.Cluster.TLS; t != nil {
		port = "tls-port"
		text += fmt.Sprintf("port 0\ntls-cert-file %s\ntls-key-file %s\ntls-ca-cert-file %s\ntls-replication yes\n", t.Cert, t.Key, t.CA)
		if _, asked := n.Cluster.Settings["tls-auth-clients"]; t.Mutual {
			text += "tls-auth-clients yes\n"
		} else if !asked {
			text += "tls-auth-clients optional\n"
		}
	}
	text += fmt.Sprintf("%s %d\n", port, n.Ports["client"])
	if l := n.Cluster.Login; l != nil {
		text += fmt.Sprintf("user default off\nuser %[1]s on >%[2]s ~* &* +@all\nmasteruser %[1]s\nmasterauth %[2]s\n", l.User, l.Password)
	}
	if clustered(n) {
		return text + clusterNode(n) + sharedPassword(n)
	}
	if n.ID > 1 {
		text += fmt.Sprintf("replicaof 127.0.0.1 %d\n", n.Cluster.Nodes[0].Ports["client"])
		text += sharedPassword(n)
	}
	return text
}

// sharedPassword is the replica's password for its primary if all nodes have the same password.
func sharedPassword(n *provision.Node) string {
	if password := n.Cluster.Settings["requirepass"]; password != nil {
		return fmt.Sprintf("masterauth %v\n", password)
	}
	return ""
}
