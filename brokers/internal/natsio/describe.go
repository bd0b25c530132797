package natsio

import "github.com/brokermark/brokermark/internal/driver"

// Describe returns what the server sent when the connection began.
func (c *Conn) Describe() driver.Description {
	return driver.Description{
		Product: "NATS", Version: c.ConnectedServerVersion(), Settings: map[string]any{"max_payload": c.MaxPayload()},
	}
}
