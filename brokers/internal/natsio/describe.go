package natsio

import "github.com/brokermark/brokermark/internal/driver"

// Describe returns the server's data from the beginning of the connection.
func (c *Conn) Describe() driver.Description {
	return driver.Description{
		Product: "NATS", Version: c.ConnectedServerVersion(), Settings: map[string]any{"max_payload": c.MaxPayload()},
	}
}
