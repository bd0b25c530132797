package pulsar

import (
	"context"
	"fmt"
	"net/http"

	"github.com/brokermark/brokermark/internal/driver"
)

// telling are the settings of a broker that matter for persistence and speed; others hold passwords.
var telling = []string{
	"managedLedgerDefaultEnsembleSize", "managedLedgerDefaultWriteQuorum", "managedLedgerDefaultAckQuorum", "maxMessageSize",
	"brokerDeduplicationEnabled", "transactionCoordinatorEnabled", "maxUnackedMessagesPerConsumer",
}

// Describe implements driver.Describer by a broker's admin interface.
func (s *session) Describe(ctx context.Context) (driver.Description, error) {
	d := driver.Description{Product: "Pulsar"}
	if err := s.admin.do(ctx, http.MethodGet, "brokers/version", nil, &d.Version); err != nil {
		return d, fmt.Errorf("asking for the version: %w", err)
	}
	var config map[string]string
	if err := s.admin.do(ctx, http.MethodGet, "brokers/configuration/runtime", nil, &config); err != nil {
		return d, fmt.Errorf("asking for the settings: %w", err)
	}
	d.Settings = map[string]any{}
	for _, name := range telling {
		if value, ok := config[name]; ok {
			d.Settings[name] = value
		}
	}
	return d, nil
}
