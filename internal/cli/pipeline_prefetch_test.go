package cli

import (
	"maps"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
)

// The fourth study's consumer holds one message at a time; a client that has no such setting, or no use for it, is left alone.
func TestAConsumersThreadHoldsOneRideUnlessItIsSetOtherwise(t *testing.T) {
	one := map[string]any{"prefetch": 1}
	for name, c := range map[string]struct {
		broker      string
		delivery    driver.Delivery
		given, want map[string]any
	}{
		"by default":                      {"rabbitmq", driver.AtLeastOnce, nil, one},
		"beside another setting":          {"rabbitmq", driver.AtLeastOnce, map[string]any{"ack.every": 5}, map[string]any{"ack.every": 5, "prefetch": 1}},
		"set otherwise":                   {"rabbitmq", driver.AtLeastOnce, map[string]any{"prefetch": 10}, map[string]any{"prefetch": 10}},
		"of no effect, at most once":      {"rabbitmq", driver.AtMostOnce, nil, nil},
		"a client without such a setting": {"jetstream", driver.AtLeastOnce, nil, nil},
		"a broker that nobody knows":      {"nobody", driver.AtLeastOnce, nil, nil},
		"an unknown setting, too":         {"rabbitmq", driver.AtLeastOnce, map[string]any{"prefech": 1}, map[string]any{"prefech": 1}},
	} {
		b := link.Broker{Broker: c.broker, Guarantee: driver.Guarantee{Delivery: c.delivery, Persistence: driver.Log, Replicas: 1}, Client: c.given}
		if holdOne(&b); !maps.Equal(b.Client, c.want) {
			t.Errorf("%s: %v, want %v", name, b.Client, c.want)
		}
	}
}
