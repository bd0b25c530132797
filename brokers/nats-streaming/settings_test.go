package natsstreaming_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestServerIsStartedWithWhatAPersistenceNeeds(t *testing.T) {
	server := livetest.Kind(t, "nats-streaming").Server
	synced3 := driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 3, Acks: driver.AcksQuorum}
	for name, c := range map[string]struct {
		asked   driver.Guarantee
		given   map[string]any
		want    map[string]any
		refused string
	}{
		"fsync of a memory store": {asked: synced, given: map[string]any{"streaming.store": "memory"}, refused: "persistence: fsync"},
		"fsync without a sync":    {asked: synced, given: map[string]any{"streaming": map[string]any{"file": map[string]any{"sync": false}}}, refused: "persistence: fsync"},
		"memory":                  {asked: memory, want: map[string]any{"streaming.store": "memory"}},
		"memory, on files":        {asked: memory, given: map[string]any{"streaming.store": "file"}, want: map[string]any{"streaming.store": "file"}},
		"log":                     {asked: logged, want: map[string]any{"streaming.store": "file", "streaming.file.sync": false}},
		"fsync, and more":         {asked: synced, given: map[string]any{"max_payload": 9}, want: map[string]any{"streaming.store": "file", "streaming.file.sync": true, "max_payload": 9}},
		"log, with a sync":        {asked: logged, given: map[string]any{"streaming.file.sync": true}, want: map[string]any{"streaming.store": "file", "streaming.file.sync": true}},
		"fsync of a cluster":      {asked: synced3, want: map[string]any{"streaming.store": "file", "streaming.cluster.sync": true}},
	} {
		got, err := server(c.asked, c.given)
		var refusal *driver.ErrUnsupported
		switch {
		case c.refused != "" && (!errors.As(err, &refusal) || refusal.Setting != c.refused):
			t.Errorf("%s: %v; want a refusal of %q", name, err, c.refused)
		case c.refused == "" && (err != nil || !maps.Equal(got, c.want)):
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		says  string
	}{
		"streaming.stor":                   {"file", "unknown"},
		"streaming.dir":                    {"/tmp", "set by the recipe"},
		"streaming.store":                  {"sql", "not file or memory"},
		"streaming.hb_interval":            {10, "not a time"},
		"streaming.store_limits.max_msgs":  {"many", "not a whole number"},
		"streaming.file.sync":              {"sometimes", "not true or false"},
		"streaming.cluster.sync":           {true, "one node is no cluster"},
		"max_playload":                     {1, "not one of"},
		"max_payload":                      {"much", ""},
		"streaming.cluster.raft_log_level": {1, "unknown"},
	} {
		livetest.RefusesServer(t, provision.Options{Broker: "nats-streaming"}, name, c.value, c.says)
	}
}
