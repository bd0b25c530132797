package redis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	rewriteBudget = 20 * time.Second // for the first append-only file
	askEvery      = 20 * time.Millisecond
)

// wanted is the append-only setting of a persistence. "log" is not everysec: during a long flush everysec delays a write for up
// to two seconds but replies at once, so a killed process may lose acknowledged messages; "no" writes before every reply and
// leaves the flush to the system.
var wanted = map[driver.Persistence]string{driver.Log: "no", driver.Fsync: "always"}

// persist makes the server keep what the guarantee requires. If the server was started for this run, it changes the settings and
// the configuration file, so that they survive a restart; otherwise it only checks them.
func (d *session) persist(ctx context.Context) error {
	p := d.config.Guarantee.Persistence
	if p == driver.Memory {
		return nil
	}
	setting := "persistence: " + string(p)
	var now map[string]string // of a server that keeps less
	err := d.everywhere(ctx, func(ctx context.Context, c *redis.Client) error {
		has, err := c.ConfigGet(ctx, "append*").Result()
		if err != nil {
			return driver.Unsupported(setting, "it needs the server settings appendonly and appendfsync, and they can't be read: %v", err)
		}
		if has["appendonly"] == "yes" && (has["appendfsync"] == wanted[p] || has["appendfsync"] == "always") {
			return nil
		}
		if d.config.Target.Version == "" || d.cluster != nil {
			return driver.Unsupported(setting, "it needs the server settings appendonly: yes and appendfsync: %s; this server has %s and %s",
				wanted[p], has["appendonly"], has["appendfsync"])
		}
		now = has
		return nil
	})
	if err != nil || now == nil {
		return err
	}
	d.before = map[string]string{"appendonly": now["appendonly"], "appendfsync": now["appendfsync"]}
	if err := d.configure(ctx, map[string]string{"appendonly": "yes", "appendfsync": wanted[p]}); err != nil {
		return err
	}
	return d.rewritten(ctx)
}

// attaching implements driver.Kind.Attaching: an attached server is not changed, and with its default settings it keeps less than
// log means.
func attaching(settings map[string]any, _ driver.Target) []string {
	if fmt.Sprint(settings["appendonly"]) == "yes" && slices.Contains([]any{"no", "always"}, settings["appendfsync"]) {
		return nil
	}
	return []string{"persistence=memory"}
}

func (d *session) restore(ctx context.Context) error {
	if d.before == nil {
		return nil
	}
	return d.configure(ctx, d.before)
}

func (d *session) configure(ctx context.Context, settings map[string]string) error {
	for _, name := range []string{"appendfsync", "appendonly"} {
		if err := d.control.ConfigSet(ctx, name, settings[name]).Err(); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	if err := d.control.ConfigRewrite(ctx).Err(); err != nil {
		return fmt.Errorf("write the server's configuration file: %w", err)
	}
	return nil
}

// rewritten waits until a restart would read the append-only file that was just switched on.
func (d *session) rewritten(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rewriteBudget)
	defer cancel()
	for ctx.Err() == nil {
		about, err := info(ctx, d.control, "persistence")
		if err != nil {
			return err
		}
		if about["aof_enabled"] == "1" && about["aof_rewrite_in_progress"] == "0" && about["aof_rewrite_scheduled"] == "0" {
			return nil
		}
		_ = socket.Pause(ctx, askEvery)
	}
	return fmt.Errorf("the server has not switched its append-only file on: %w", ctx.Err())
}

// copies refuses a guarantee with more replicas than are connected.
func (d *session) copies(ctx context.Context) error {
	asked := d.config.Guarantee.Replicas
	if asked < 2 {
		return nil
	}
	return d.everywhere(ctx, func(ctx context.Context, c *redis.Client) error {
		about, err := info(ctx, c, "replication")
		if err != nil || about["role"] == "slave" {
			return err
		}
		if n := online(about); n+1 < asked {
			return driver.Unsupported(fmt.Sprintf("replicas: %d", asked), "the server has %d replicas beside itself; start more nodes", n)
		}
		return nil
	})
}

// online counts a primary's replicas that have caught up.
func online(replication map[string]string) (n int) {
	for name, value := range replication {
		if strings.HasPrefix(name, "slave") && strings.Contains(value, "state=online") {
			n++
		}
	}
	return n
}

// info reads a section of INFO as a map.
func info(ctx context.Context, c redis.UniversalClient, section string) (map[string]string, error) {
	text, err := c.Info(ctx, section).Result()
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", section, err)
	}
	return fields(text), nil
}

// fields parses lines of name:value.
func fields(text string) map[string]string {
	about := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			about[name] = value
		}
	}
	return about
}
