package rabbitmq

import (
	"context"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// In AMQP's handshake each side may lower the heartbeat and the size of frames; a lowered one isn't what was asked for.
func TestWhatTheServerLowersIsRefused(t *testing.T) {
	testkit.Long(t) // a server for a few handshakes, and a minute
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq", Server: map[string]any{"channel_max": 2, "consumer_timeout": 1000}})
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
	sharing := map[string]any{"channels": 2}
	err = fits(config(t, target, sharing, nil), driver.Shape{Topics: 1, Subscriptions: 1, Consumers: 1})
	livetest.Says(t, err, "connections is not supported: one has 2 channel(s) (the server's channel_max), and those who share it need 3")
	target.Server = nil // as where it is attached
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq")},
		drivertest.Denial{Name: "channel_max", Target: target, Guarantee: logged, Client: sharing, Says: "one has 2 channel(s) (the server's channel_max)"})
	t.Run("consumer_timeout", func(t *testing.T) { timesOut(t, target) })
}

// timesOut works on a message for longer than the server waits, which it looks at once a minute: it would deliver it again and again.
func timesOut(t *testing.T, target driver.Target) {
	r := livetest.Open(t, "rabbitmq", config(t, target, nil, nil), livetest.Topic("slow", 1, "s"))
	livetest.Must(t, r.Send(t, "one"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	livetest.Says(t, r.Driver.Consume(ctx, driver.ConsumerConfig{Of: 1}, working(65*time.Second), func() {}), "timed out. Timeout value used: 1000 ms")
}

// working is a sink that works so long on what comes.
type working time.Duration

func (w working) Deliver([]driver.Received) { time.Sleep(time.Duration(w)) }
