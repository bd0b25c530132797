package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// Settings of a server that is started for persistence: fsync, unless the spec contradicts them.
const (
	syncSetting = "jetstream.sync_interval"
	syncAlways  = "always"
)

// served implements driver.Kind.Server.
func served(g driver.Guarantee, asked map[string]any) (map[string]any, error) {
	if g.Persistence != driver.Fsync {
		return asked, nil
	}
	settings := driver.Flatten(asked)
	if given, ok := settings[syncSetting]; ok && fmt.Sprint(given) != syncAlways {
		return nil, driver.Unsupported("persistence: fsync", "it needs %s: %s, and the spec says %v", syncSetting, syncAlways, given)
	}
	settings[syncSetting] = syncAlways
	return settings, nil
}

// unmonitored is the error for a server of unknown settings.
var unmonitored = driver.Unsupported("persistence: fsync",
	"it needs the server setting %s: %s, and there is no monitoring address to check that; client.monitor names one", syncSetting, syncAlways)

// syncsAlways asks the monitoring port of the servers, which another program may have started: the client protocol doesn't say
// how they write.
func (s *session) syncsAlways(ctx context.Context) error {
	const setting = "persistence: fsync"
	const how = "the server setting " + syncSetting + ": " + syncAlways
	monitors := natsio.Monitors(s.config)
	for _, url := range monitors {
		var js server.JSInfo // not /varz: if asked before JetStream was up, it never shows its settings
		if err := natsio.Read(ctx, url+"/jsz", &js); err != nil {
			return driver.Unsupported(setting, "it needs %s, and that could not be checked: %v", how, err)
		}
		if !js.Config.SyncAlways {
			return driver.Unsupported(setting, "it needs %s; this server writes to the disk at intervals", how)
		}
	}
	if len(monitors) == 0 {
		return unmonitored
	}
	return nil
}
