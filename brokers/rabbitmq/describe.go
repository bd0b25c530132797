package rabbitmq

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer: AMQP 0-9-1 has a server send its name and version when a connection begins, and
// nothing of its settings.
func (d *rabbit) Describe(context.Context) (driver.Description, error) {
	return driver.Announced(d.control.conn.Properties), nil
}
