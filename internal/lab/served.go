package lab

import (
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

// served is what the broker of a point is started with: what the spec asks of the server, what the guarantee needs
// beside that, and in a pipeline what lets the broker tell what goes through its queue.
func served(s study.Spec) (map[string]any, error) {
	kind, err := driver.Lookup(s.Broker)
	if err != nil || len(s.Attach) > 0 {
		return s.Server, nil //nolint:nilerr // an unknown broker is refused elsewhere
	}
	server := s.Server
	if s.Pipeline != nil && kind.Watched != nil {
		server = kind.Watched(server)
	}
	if kind.Transacts != nil {
		client, err := driver.Decode(kind.Settings, driver.ClientScope, s.Client)
		if err != nil {
			return nil, err
		}
		server = kind.Transacts(guarantee(s), client, s.Relays, server)
	}
	if kind.Server == nil {
		return server, nil
	}
	return kind.Server(guarantee(s), server)
}
