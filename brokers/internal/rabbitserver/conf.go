package rabbitserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// ours are the groups of keys that every recipe sets itself; with another value the broker would not be found.
var ours = []string{
	"listeners", "cluster_formation", "cluster_name", "distribution",
	"tcp_listen_options.port", "tcp_listen_options.fd", "mqtt.tcp_listen_options.port", "mqtt.tcp_listen_options.fd", "stream.tcp_listen_options.port", "stream.tcp_listen_options.fd",
	"ssl_options.cacertfile", "ssl_options.certfile", "ssl_options.keyfile", "ssl_options.verify", "ssl_options.fail_if_no_peer_cert",
}

// conf returns the node's rabbitmq.conf: the settings asked for, checked by name, and those of this instance.
func (p Protocol) conf(n *provision.Node, server string) (string, error) {
	c := n.Cluster
	keys := map[string]string{
		"loopback_users": "none", // guest may come from anywhere, on 127.0.0.1
		"log.console":    "true",
	}
	plugins, err := asked(c)
	if err != nil {
		return "", err
	}
	known, err := knownKeys(server, append(plugins, p.Plugin)...)
	if err != nil {
		return "", err
	}
	policy, err := Policy(c.Version, c.Settings)
	if err != nil {
		return "", err
	}
	for name, value := range c.Settings {
		if strings.HasPrefix(name, policyPrefix) {
			if len(policy) > 0 && p.Plugin != "" {
				return "", &provision.ErrSetting{Name: name, Reason: "a stream has no mirrors, and is never lazy"}
			}
			continue
		}
		if name == EnabledPlugins {
			continue
		}
		keys[name] = provision.Text(value)
		if err := checkKey(known, p.Ours, name, keys[name]); err != nil {
			return "", err
		}
	}
	keys["cluster_name"] = c.ID
	if managed(c) {
		maps.Copy(keys, management(n))
	}
	maps.Copy(keys, p.Listen(n))
	if c.TLS != nil {
		keys["ssl_options.cacertfile"], keys["ssl_options.certfile"], keys["ssl_options.keyfile"] = c.TLS.CA, c.TLS.Cert, c.TLS.Key
		keys["ssl_options.verify"], keys["ssl_options.fail_if_no_peer_cert"] = "verify_none", "false"
		if c.TLS.Mutual {
			keys["ssl_options.verify"], keys["ssl_options.fail_if_no_peer_cert"] = "verify_peer", "true"
		}
	}
	if c.Login != nil { // it is made instead of guest
		keys["default_user"], keys["default_pass"] = c.Login.User, c.Login.Password
	}
	if len(c.Nodes) > 1 {
		keys["cluster_formation.peer_discovery_backend"] = "classic_config"
		for i, peer := range c.Nodes {
			keys[fmt.Sprintf("cluster_formation.classic_config.nodes.%d", i+1)] = nodeName(peer)
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		fmt.Fprintf(&b, "%s = %s\n", name, keys[name])
	}
	return b.String(), nil
}
