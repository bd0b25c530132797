package rabbitmq

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/brokermark/brokermark/internal/provision"
)

// ours are the groups of keys that the recipe sets itself; another value would put the broker where nobody looks.
var ours = []string{"listeners", "ssl_options", "cluster_formation", "cluster_name"}

// conf is the node's rabbitmq.conf: the settings asked for, checked by name, and what makes the node ours.
func conf(n *provision.Node, server string) (string, error) {
	c := n.Cluster
	keys := map[string]string{
		"loopback_users": "none", // guest may come from anywhere, on 127.0.0.1
		"log.console":    "true",
	}
	known, err := knownKeys(server)
	if err != nil {
		return "", err
	}
	for name, value := range c.Settings {
		if err := checkKey(known, name); err != nil {
			return "", err
		}
		keys[name] = scalar(value)
	}
	keys["cluster_name"] = c.ID
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Ports["client"]))
	if c.TLS == nil {
		keys["listeners.tcp.1"] = address
	} else {
		keys["listeners.tcp"] = "none"
		keys["listeners.ssl.1"] = address
		keys["ssl_options.cacertfile"], keys["ssl_options.certfile"], keys["ssl_options.keyfile"] = c.TLS.CA, c.TLS.Cert, c.TLS.Key
		keys["ssl_options.verify"] = "verify_none"
		keys["ssl_options.fail_if_no_peer_cert"] = "false"
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

func scalar(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

var mapping = regexp.MustCompile(`\{\s*mapping\s*,\s*"([^"]+)"`)

// knownKeys reads the server's own schema. The server would refuse an unknown key as well, but only while booting.
func knownKeys(server string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(server, "plugins/rabbit-*/priv/schema/*.schema"))
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, m := range mapping.FindAllSubmatch(text, -1) {
			keys = append(keys, string(m[1]))
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("no settings schema below %s", server)
	}
	return keys, nil
}

func checkKey(known []string, name string) error {
	if group, _, _ := strings.Cut(name, "."); slices.Contains(ours, group) {
		return &provision.ErrSetting{Name: name, Reason: "it is set by the recipe, so that the broker is found and alone"}
	}
	if slices.ContainsFunc(known, func(key string) bool { return keyMatches(key, name) }) {
		return nil
	}
	nearest, best := "", 0.0
	for _, key := range known {
		if s := levenshtein.Similarity(key, name, nil); s > best {
			nearest, best = key, s
		}
	}
	return &provision.ErrSetting{Name: name, Reason: "rabbitmq.conf has no such key; the nearest is " + nearest}
}

// keyMatches compares segment by segment; a segment of the schema that starts with $ stands for any.
func keyMatches(key, name string) bool {
	want, have := strings.Split(key, "."), strings.Split(name, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && !strings.HasPrefix(want[i], "$") {
			return false
		}
	}
	return true
}
