package rabbitmq

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer: AMQP 0-9-1 has a server send its name and version when a connection begins, and
// nothing of its settings.
func (d *rabbit) Describe(context.Context) (driver.Description, error) {
	said := func(name string) string {
		if v := d.control.conn.Properties[name]; v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	return driver.Description{Product: said("product"), Version: said("version")}, nil
}
