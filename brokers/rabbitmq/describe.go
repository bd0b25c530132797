package rabbitmq

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer: an AMQP 0-9-1 server sends its name and version when a connection begins, but no settings.
func (d *rabbit) Describe(context.Context) (driver.Description, error) {
	return driver.Announced(d.control.conn.Properties), nil
}
