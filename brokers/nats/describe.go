package natscore

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer, by what the server says when a connection begins.
func (s *session) Describe(context.Context) (driver.Description, error) {
	return s.conn.Describe(), nil
}
