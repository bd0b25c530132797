package all_test

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Everybody else delivers again only when a connection ends. A new broker is added here once its documentation has been read for this.
func TestEveryDriverSaysWhenItsBrokerDeliversAgain(t *testing.T) {
	want := map[string]time.Duration{
		"jetstream": 30 * time.Second, "nats-streaming": 30 * time.Second, "rocketmq": 15 * time.Second, "kafka": 45 * time.Second,
		"activemq": 0, "artemis": 0, "hivemq": 0, "mosquitto": 0, "nats": 0, "pulsar": 0, "qpid": 0, "rabbitmq": 0, "rabbitmq-amqp10": 0,
		"rabbitmq-mqtt": 0, "rabbitmq-stream": 0, "redis": 0, "redis-cluster": 0,
		"redis-pubsub": 0, "sim": 0,
	}
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		client, err := driver.Decode(kind.Settings, driver.ClientScope, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, known := time.Duration(0), false
		if kind.Redelivers != nil {
			got, _ = kind.Redelivers(driver.Guarantee{Delivery: driver.ExactlyOnce}, client, nil)
		}
		if _, known = want[name]; !known || got != want[name] {
			t.Errorf("%s delivers again after %v, want %v (listed: %v)", name, got, want[name], known)
		}
	}
}
