package natsstreaming

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// block is the part of the configuration that only NATS Streaming knows. Names in it that it doesn't know it passes
// over in silence, so they are checked here.
const block = "streaming."

// kinds of values, as the server checks them.
const (
	aBool     = "true or false"
	aNumber   = "a whole number"
	aDuration = "a time with a unit, such as 30s"
	aWord     = "a word"
)

// native are the settings that may be set, without those that make the node ours.
var native = map[string]string{
	"store":       aWord,
	"hb_interval": aDuration, "hb_timeout": aDuration, "hb_fail_count": aNumber, "replace_durable": aBool, "sd": aBool, "sv": aBool,
	"store_limits.max_channels": aNumber, "store_limits.max_msgs": aNumber, "store_limits.max_bytes": aNumber,
	"store_limits.max_age": aDuration, "store_limits.max_subs": aNumber, "store_limits.max_inactivity": aDuration,
	"file.compact": aBool, "file.compact_fragmentation": aNumber, "file.compact_interval": aNumber, "file.compact_min_size": aNumber,
	"file.buffer_size": aNumber, "file.crc": aBool, "file.crc_poly": aNumber, "file.sync": aBool, "file.auto_sync": aDuration,
	"file.slice_max_msgs": aNumber, "file.slice_max_bytes": aNumber, "file.slice_max_age": aDuration, "file.fds_limit": aNumber,
	"file.parallel_recovery": aNumber, "file.read_buffer_size": aNumber,
	"cluster.sync": aBool, "cluster.log_cache_size": aNumber, "cluster.log_snapshots": aNumber, "cluster.trailing_logs": aNumber,
	"cluster.raft_heartbeat_timeout": aDuration, "cluster.raft_election_timeout": aDuration, "cluster.raft_lease_timeout": aDuration,
	"cluster.raft_commit_timeout": aDuration, "cluster.raft_logging": aBool,
}

// newer are those that came after version 0.17.0.
var newer = []string{"replace_durable"}

// embedded are settings of the nats-server inside that may be set, too: it is an older one than that whose parser checks
// them, and silent about what it doesn't know.
var embedded = []string{
	"max_payload", "max_pending", "max_connections", "max_control_line", "max_subscriptions", "write_deadline", "ping_interval",
	"ping_max", "debug", "trace", "lame_duck_duration",
}

// tuning are all of them, which a document may give without being trusted.
func tuning() []string {
	names := slices.Clone(embedded)
	for _, name := range slices.Sorted(maps.Keys(native)) {
		names = append(names, block+name)
	}
	return names
}

func configure(_ context.Context, n *provision.Node) error {
	outer, inner := map[string]any{}, map[string]any{}
	for name, value := range driver.Flatten(n.Cluster.Settings) {
		if own, ok := strings.CutPrefix(name, block); ok {
			inner[own] = value
			continue
		}
		if !slices.Contains(embedded, name) {
			return &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("not one of %s, or of %s…", strings.Join(embedded, ", "), block)}
		}
		outer[name] = value
	}
	all, err := natsio.Compose(n, nil, outer)
	if err != nil {
		return err
	}
	if cluster, ok := all["cluster"].(natsio.Block); ok && n.Cluster.Version == old {
		delete(cluster, "name") // the NATS server inside doesn't know it, and ends because of it
	}
	if all["streaming"], err = streaming(n, inner); err != nil {
		return err
	}
	return n.Write(confFile, []byte(all.String()))
}

const confFile = "stan.conf"

func conf(n *provision.Node) string { return filepath.Join(n.Dir, confFile) }

// streaming is the block with settings, and what makes the node ours.
func streaming(n *provision.Node, settings map[string]any) (natsio.Block, error) {
	c, all := n.Cluster, natsio.Block{}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		kind, ok := native[name]
		if !ok {
			return nil, &provision.ErrSetting{Name: block + name, Reason: "set by the recipe, or unknown; known: " + strings.Join(slices.Sorted(maps.Keys(native)), ", ")}
		}
		if slices.Contains(newer, name) && c.Version == old {
			return nil, &provision.ErrSetting{Name: block + name, Reason: "version " + old + " doesn't know it"}
		}
		if strings.HasPrefix(name, "cluster.") && len(c.Nodes) == 1 {
			return nil, &provision.ErrSetting{Name: block + name, Reason: "one node is no cluster"}
		}
		value, err := typed(kind, settings[name])
		if err != nil {
			return nil, &provision.ErrSetting{Name: block + name, Reason: err.Error()}
		}
		if err := all.Set(name, value); err != nil {
			return nil, err
		}
	}
	if len(c.Nodes) > 1 && all["store"] == "memory" {
		return nil, &provision.ErrSetting{Name: block + "store", Reason: "the server has no cluster with a memory store"}
	}
	own := map[string]any{
		"cluster_id": "test-cluster", "store": "file", "dir": filepath.Join(n.Data, "store"),
		// The server's own 100 is soon reached by the channels of points that share it: nothing but the server's end
		// removes one.
		"store_limits.max_channels": 0,
	}
	if t := c.TLS; t != nil { // of the server's own connections to itself
		own["tls.client_cert"], own["tls.client_key"], own["tls.client_ca"] = t.ClientCert, t.ClientKey, t.CA
	}
	if len(c.Nodes) > 1 {
		var peers []any
		for _, m := range c.Nodes {
			peers = append(peers, m.Name())
		}
		own["cluster.node_id"], own["cluster.peers"], own["cluster.log_path"] = n.Name(), peers, filepath.Join(n.Data, "raft")
	}
	for name, value := range own {
		_ = all.Set(name, value) // unless something else was asked for
	}
	return all, nil
}

// typed is value as the server wants it for its kind.
func typed(kind string, value any) (v any, err error) {
	text := provision.Text(value)
	switch kind {
	case aBool:
		v, err = strconv.ParseBool(text)
	case aNumber:
		v, err = strconv.ParseInt(text, 10, 64)
	case aDuration:
		var d time.Duration
		d, err = time.ParseDuration(text)
		v = d.String()
	case aWord:
		if v = text; text != "file" && text != "memory" {
			return nil, fmt.Errorf("%q is not file or memory", text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%v is not %s", value, kind)
	}
	return v, nil
}
