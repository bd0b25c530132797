package natsstreaming

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// needs are the server settings that make an acknowledgement mean what a persistence asks for. The server flushes the
// file store of a channel before it acknowledges what was published; with file.sync, its own default, that is an fsync of
// both of the channel's files, without it a write. (file.auto_sync only adds an fsync now and then to the latter.) A
// cluster has a log of its own, and a switch for both.
var needs = map[driver.Persistence]map[string]any{
	driver.Memory: {"streaming.store": "memory"},
	driver.Log:    {"streaming.store": "file", "streaming.file.sync": false},
	driver.Fsync:  {"streaming.store": "file", "streaming.file.sync": true},
}

// server implements driver.Kind.Server.
func server(g driver.Guarantee, asked map[string]any) (map[string]any, error) {
	settings := driver.Flatten(asked)
	need := maps.Clone(needs[g.Persistence])
	if g.Replicas > 1 {
		delete(need, "streaming.file.sync")
		need["streaming.cluster.sync"] = g.Persistence == driver.Fsync
	}
	for name, value := range need {
		given, ok := settings[name]
		if !ok {
			settings[name] = value
			continue
		}
		if weaker(name, given, value) {
			return nil, driver.Unsupported("persistence: "+string(g.Persistence), "it needs %s: %v, and the spec says %v", name, value, given)
		}
	}
	return settings, nil
}

// attaching implements driver.Kind.Attaching. A server keeps messages in memory unless it was told otherwise, a cluster
// keeps files, and every node has every message.
func attaching(settings map[string]any, t driver.Target) []string {
	monitors := natsio.Monitors(driver.Config{Client: driver.Values{"monitor": ""}, Target: t})
	said := []string{"client.monitor=" + strings.Join(monitors, ",")}
	switch store, _ := driver.Flatten(settings)["streaming.store"].(string); {
	case len(monitors) > 1:
		said = append(said, fmt.Sprintf("replicas=%d", len(monitors)))
	case !strings.EqualFold(store, "file"):
		said = append(said, "persistence=memory")
	}
	return said
}

// weaker reports whether given is less than needed; more is the spec's choice.
func weaker(name string, given, needed any) bool {
	strong := map[string]string{"streaming.store": "file", "streaming.file.sync": "true", "streaming.cluster.sync": "true"}
	return fmt.Sprint(needed) == strong[name] && strings.ToLower(fmt.Sprint(given)) != strong[name]
}

// known refuses guarantees that can't be checked on the servers, and a number of copies other than one on each server. A server
// doesn't report whether its file store is synced: that is known only if it was started for this run.
func known(c driver.Config) error {
	g, nodes := c.Guarantee, len(natsio.Monitors(c))
	setting := "persistence: " + string(g.Persistence)
	if c.Target.Server != nil {
		nodes = len(c.Target.Addresses)
	}
	switch {
	case g.Persistence == driver.Fsync && c.Target.Version == "":
		return driver.Unsupported(setting, "it needs the server settings streaming.store: file and streaming.file.sync: true, and this server doesn't report the second")
	case nodes == 0 && g.Persistence != driver.Memory:
		return driver.Unsupported(setting, "it needs the server setting streaming.store: file, and there is no monitoring address to check that; client.monitor names one")
	case nodes == 0 && g.Replicas > 1, nodes > 0 && nodes != g.Replicas:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "every node of a cluster has every message; here are %d nodes whose monitoring address is known", nodes)
	}
	return nil
}

// kept refuses what this server doesn't keep, as far as its monitoring port tells.
func (d *driving) kept(ctx context.Context) error {
	g := d.config.Guarantee
	setting := "persistence: " + string(g.Persistence)
	for _, url := range natsio.Monitors(d.config) {
		var store struct{ Type string }
		if err := natsio.Read(ctx, url+"/streaming/storez", &store); err != nil {
			return driver.Unsupported(setting, "the server's store is not known: %v", err)
		}
		if g.Persistence != driver.Memory && !strings.HasSuffix(store.Type, "FILE") { // a cluster's is RAFT_FILE
			return driver.Unsupported(setting, "it needs the server setting streaming.store: file; this server's is %s", strings.ToLower(store.Type))
		}
	}
	return nil
}
