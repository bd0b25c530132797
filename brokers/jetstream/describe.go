package jetstream

import (
	"context"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer: it returns what the server sends when a connection begins and, with client.monitor, where
// it stores streams and how often it flushes them.
func (s *session) Describe(ctx context.Context) (driver.Description, error) {
	d := s.conn.Describe()
	monitors := natsio.Monitors(s.config)
	if len(monitors) == 0 {
		return d, nil
	}
	var js server.JSInfo
	if err := natsio.Read(ctx, monitors[0]+"/jsz", &js); err != nil {
		return d, err
	}
	c := js.Config
	d.Settings["jetstream.store_dir"] = c.StoreDir
	d.Settings["jetstream.max_memory_store"], d.Settings["jetstream.max_file_store"] = c.MaxMemory, c.MaxStore
	d.Settings[syncSetting] = c.SyncInterval.String()
	if c.SyncAlways {
		d.Settings[syncSetting] = syncAlways
	}
	return d, nil
}
