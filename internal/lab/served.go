package lab

import (
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

// served is what the broker of a point is started with: what the spec asks of the server, and what the guarantee needs
// beside that.
func served(s study.Spec) (map[string]any, error) {
	kind, err := driver.Lookup(s.Broker)
	if err != nil || kind.Server == nil || len(s.Attach) > 0 {
		return s.Server, nil //nolint:nilerr // an unknown broker is refused elsewhere
	}
	return kind.Server(guarantee(s), s.Server)
}
