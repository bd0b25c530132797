package mqtt

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/websocket"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// overWebSocket is the setting that names the path of the WebSocket over which MQTT is spoken.
const overWebSocket = "websocket"

// fitsWebSocket refuses an invalid path, and a path or its absence that doesn't match the server's settings.
func fitsWebSocket(p *Product, c driver.Config) error {
	path, server := c.Client.String(overWebSocket), c.Target.Server
	setting := "client." + overWebSocket + ": " + path
	spoken := p.WebSocket != "" && fmt.Sprint(server[p.WebSocket]) == WebSockets
	switch {
	case path != "" && (path[0] != '/' || strings.ContainsAny(path, "?# ")):
		return driver.Unsupported(setting, "it is no path, such as /mqtt")
	case path != "" && server != nil && p.WebSocket == "":
		return driver.Unsupported(setting, "the broker that is started here listens for MQTT over TCP; allowed with attach")
	case path != "" && server != nil && !spoken:
		return driver.Unsupported(setting, "the broker that is started here speaks it with server.%s: %s only", p.WebSocket, WebSockets)
	case path == "" && spoken:
		return driver.Unsupported(fmt.Sprintf("server.%s: %s", p.WebSocket, WebSockets), "the client speaks it with client.%s only, which names the path, such as /mqtt", overWebSocket)
	}
	return nil
}

// WebSockets is the value of Product.WebSocket's setting.
const WebSockets = "websockets"

// attaching implements driver.Kind.Attaching.
func (p *Product) attaching(settings map[string]any, _ driver.Target) []string {
	if p.WebSocket == "" || fmt.Sprint(settings[p.WebSocket]) != WebSockets {
		return nil
	}
	return []string{"client." + overWebSocket + "=/mqtt"}
}

// connect makes the connection below MQTT: TCP, with TLS where that is asked for, and a WebSocket where path isn't empty.
func connect(ctx context.Context, address, path string, t driver.Target) (net.Conn, error) {
	conn, err := socket.Dial(ctx, address, t.TLS)
	if err != nil || path == "" {
		return conn, err
	}
	scheme := "ws"
	if t.TLS != nil {
		scheme = "wss"
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	web, err := websocket.NewClient(&websocket.Config{
		Location: &url.URL{Scheme: scheme, Host: address, Path: path}, Origin: &url.URL{Scheme: "http", Host: address},
		Protocol: []string{"mqtt"}, Version: websocket.ProtocolVersionHybi13,
	}, conn)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("WebSocket at %s: %w", path, err)
	}
	web.PayloadType = websocket.BinaryFrame
	return web, nil
}
