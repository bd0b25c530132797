package lab

import (
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

// serverSettings returns the settings that a point's broker is started with: those of the spec, those that the guarantee needs,
// and in a pipeline those that let the broker report its queue. For an attached broker they are those of the spec.
func serverSettings(s study.Spec) (map[string]any, error) {
	kind, err := driver.Lookup(s.Broker)
	if err != nil || len(s.Attach) > 0 {
		return s.Server, nil //nolint:nilerr // an unknown broker is refused elsewhere
	}
	settings := s.Server
	if s.Pipeline != nil && kind.Watched != nil {
		settings = kind.Watched(settings)
	}
	if kind.Transacts != nil {
		client, err := driver.Decode(kind.Settings, driver.ClientScope, s.Client)
		if err != nil {
			return nil, err
		}
		settings = kind.Transacts(guarantee(s), client, s.Relays, settings)
	}
	if kind.Server == nil {
		return settings, nil
	}
	return kind.Server(guarantee(s), settings)
}
