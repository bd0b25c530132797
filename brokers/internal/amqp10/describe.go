package amqp10

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer: the properties of the open frame (AMQP 1.0, 2.7.1) have the server's name and
// version, and nothing of its settings.
func (d *session) Describe(context.Context) (driver.Description, error) {
	return driver.Announced(d.control.Conn.Properties()), nil
}
