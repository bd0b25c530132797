package natsstreaming

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestAChannelMayDropWhatTheServersLimitsDontKeep(t *testing.T) {
	const prefix = "server.streaming.store_limits."
	for name, c := range map[string]struct {
		server map[string]any
		want   driver.Limit
	}{
		"nothing asked for": {nil, driver.Limit{}},
		"other settings":    {map[string]any{"streaming.file.sync": true, "max_payload": 1000}, driver.Limit{}},
		"messages":          {map[string]any{"streaming.store_limits.max_msgs": 100}, driver.Limit{Setting: prefix + "max_msgs: 100", Messages: 100}},
		"no limit":          {map[string]any{"streaming.store_limits.max_msgs": 0, "streaming.store_limits.max_age": "0s"}, driver.Limit{}},
		"bytes":             {map[string]any{"streaming.store_limits.max_bytes": "61200"}, driver.Limit{Setting: prefix + "max_bytes: 61200", Messages: 100}},
		"age":               {map[string]any{"streaming.store_limits.max_age": "30s"}, driver.Limit{AgeSetting: prefix + "max_age: 30s", Age: 30 * time.Second}},
		"as a block": {
			map[string]any{"streaming": map[string]any{"store_limits": map[string]any{"max_msgs": 100, "max_age": "1m"}}},
			driver.Limit{Setting: prefix + "max_msgs: 100", Messages: 100, AgeSetting: prefix + "max_age: 1m", Age: time.Minute},
		},
	} {
		if got := serverKeeps(c.server, 100); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
