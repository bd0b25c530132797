package redis

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/driver"
)

// telling are the settings that matter for persistence and speed; others hold passwords.
var telling = []string{"appendonly", "appendfsync", "save", "maxmemory", "maxmemory-policy", "io-threads", "databases", "min-replicas-to-write"}

// Describe implements driver.Describer.
func (d *session) Describe(ctx context.Context) (driver.Description, error) {
	return describe(ctx, d.control)
}

// describe asks the server for its identity (INFO) and, if the user may, its settings (CONFIG GET).
func describe(ctx context.Context, c redis.UniversalClient) (driver.Description, error) {
	text, err := c.Info(ctx, "server").Result()
	if err != nil {
		return driver.Description{}, fmt.Errorf("INFO: %w", err)
	}
	info := fields(text)
	said := driver.Description{Product: "redis", Version: info["redis_version"]}
	if version := info["valkey_version"]; version != "" { // redis_version is the version that it is compatible with
		said.Product, said.Version = "valkey", version
	}
	settings := map[string]any{}
	for _, name := range telling {
		values, err := c.ConfigGet(ctx, name).Result()
		if err != nil {
			return said, fmt.Errorf("CONFIG GET: %w", err)
		}
		if value, ok := values[name]; ok {
			settings[name] = value
		}
	}
	said.Settings = settings
	return said, nil
}
