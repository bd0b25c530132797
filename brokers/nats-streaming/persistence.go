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
	settings := natsio.Flatten(asked)
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

// weaker tells whether given is less than what is needed; more is the spec's choice.
func weaker(name string, given, needed any) bool {
	strong := map[string]string{"streaming.store": "file", "streaming.file.sync": "true", "streaming.cluster.sync": "true"}
	return fmt.Sprint(needed) == strong[name] && strings.ToLower(fmt.Sprint(given)) != strong[name]
}

// kept refuses what this server doesn't keep, as far as its monitoring port tells. Whether a file store is synced it
// doesn't tell: only for a server that was started for this is it known.
func (d *driving) kept(ctx context.Context) error {
	g := d.config.Guarantee
	setting := "persistence: " + string(g.Persistence)
	if g.Persistence == driver.Fsync && d.config.Target.Version == "" {
		return driver.Unsupported(setting, "it needs the server settings streaming.store: file and streaming.file.sync: true, and this server doesn't tell the second")
	}
	monitors := 0
	for role, url := range d.config.Target.Endpoints {
		if !strings.HasPrefix(role, "monitor") {
			continue
		}
		monitors++
		var store struct{ Type string }
		if err := natsio.Read(ctx, url+"/streaming/storez", &store); err != nil {
			return fmt.Errorf("ask for the server's store: %w", err)
		}
		if g.Persistence != driver.Memory && !strings.HasSuffix(store.Type, "FILE") { // a cluster's is RAFT_FILE
			return driver.Unsupported(setting, "it needs the server setting streaming.store: file; this server's is %s", strings.ToLower(store.Type))
		}
	}
	switch {
	case monitors == 0 && g.Persistence != driver.Memory:
		return driver.Unsupported(setting, "it needs the server setting streaming.store: file, and there is no monitoring address to check that")
	case monitors == 0 && g.Replicas > 1, monitors > 0 && monitors != g.Replicas:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "every node of a cluster has every message; here are %d nodes whose monitoring address is known", monitors)
	}
	return nil
}
