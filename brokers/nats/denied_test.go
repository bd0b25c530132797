package natscore_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/natsio/natstest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
)

func TestWhatAUserMayNotDoIsSaidInTheServersWords(t *testing.T) {
	without := func(what string) drivertest.Denial {
		to := natstest.Restricted(t, "nats", map[string]any{what: map[string]any{"deny": ">"}})
		says := map[string]string{"publish": "Publish", "subscribe": "Subscription"}[what]
		return drivertest.Denial{Name: what, Target: to, Guarantee: atMostOnce, Says: "Permissions Violation for " + says + ` to "dt-`}
	}
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "nats")}, without("publish"), without("subscribe"))
}
