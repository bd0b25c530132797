package natscore

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer, by the server's data from the beginning of a connection.
func (s *session) Describe(context.Context) (driver.Description, error) {
	return s.conn.Describe(), nil
}
