package mosquitto_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

var overWebSocket = map[string]any{"websocket": "/mqtt"}

func TestPromisesAreKeptOverWebSockets(t *testing.T) {
	web := provision.Options{Broker: "mosquitto", Server: map[string]any{"protocol": "websockets"}}
	s := livetest.Suite(t, web, least, once)
	s.Keeps = func(driver.Guarantee) bool { return false }
	s.Client = overWebSocket
	s.Guarded = livetest.GuardedBroker(web)
	drivertest.Run(t, s)
}

func TestWebSocketsAreRefusedWhereTheServerHasNone(t *testing.T) {
	kind := livetest.Kind(t, "mosquitto")
	for _, c := range []struct {
		client map[string]any
		server map[string]any
		says   string
	}{
		{overWebSocket, map[string]any{}, "client.websocket: /mqtt is not supported: the broker that is started here speaks it with server.protocol: websockets only"},
		{nil, map[string]any{"protocol": "websockets"}, "server.protocol: websockets is not supported: the client speaks it with client.websocket only, which names the path, such as /mqtt"},
		{map[string]any{"websocket": "ws://h:1/mqtt"}, nil, "client.websocket: ws://h:1/mqtt is not supported: it is no path, such as /mqtt"},
	} {
		livetest.Says(t, kind.Refusal(livetest.Config(t, "mosquitto", driver.Target{Server: c.server}, least, c.client, nil), driver.Shape{}), c.says)
	}
	_, plain := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	plain.Server = nil // as where it is attached
	_, err := kind.Open(t.Context(), livetest.Config(t, "mosquitto", plain, least, overWebSocket, nil))
	livetest.Says(t, err, "another protocol on this port?")
}
