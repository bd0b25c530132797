package rabbitmq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// In AMQP's handshake each side may lower the heartbeat and the size of frames; a lowered one isn't what was asked for.
func TestWhatTheServerLowersIsRefused(t *testing.T) {
	testkit.Long(t) // a server for three handshakes
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq"})
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"heartbeat", "120s", "client.heartbeat is not supported: the server lowers 2m0s to 1m0s"},
		{"heartbeat", "1500ms", "client.heartbeat is not supported: 1.5s is not a whole number of seconds"},
		{"frame_max", 1 << 20, "client.frame_max is not supported: the server lowers 1048576 to 131072"},
	} {
		_, err := livetest.Kind(t, "rabbitmq").Open(t.Context(), config(t, target, map[string]any{c.name: c.value}, nil))
		livetest.Says(t, err, c.want)
	}
	drv, err := open(t.Context(), config(t, target, map[string]any{"heartbeat": "30s", "frame_max": 65536}, nil))
	livetest.Must(t, err)
	livetest.Must(t, drv.Close())
}
