package drops_test

import (
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/internal/driver"
)

type server = map[string]any

// What a server drops because a spec asked for it was the broker's loss to reports, of every broker but one.
func TestALimitThatTheServerWasAskedForIsOneToItsDriver(t *testing.T) {
	for _, c := range []struct {
		broker   string
		server   server
		messages int64 // that are kept for certain, of 100 bytes; -1: no limit to the number
		age      time.Duration
	}{
		{"mosquitto", server{"max_queued_messages": 1000}, 1000, 0},
		{"mosquitto", server{"max_queued_messages": 0}, -1, 0},
		{"mosquitto", server{"max_queued_bytes": "612000"}, 1000, 0},
		{"mosquitto", server{"max_inflight_messages": 20}, -1, 0},
		{"hivemq", server{"mqtt.queued-messages.max-queue-size": 500}, 500, 0},
		{"hivemq", server{"mqtt.message-expiry.max-interval": 5}, -1, 5 * time.Second},
		{"rabbitmq", server{"default_policies.operator.all.max_length": 50, "default_policies.operator.all.message_ttl": "2s"}, 50, 2 * time.Second},
		{"rabbitmq-stream", server{"default_policies.operator.x.max_length_bytes": "1MB"}, 10000, 0},
		{"rabbitmq-mqtt", server{"default_policies.operator.x.message_ttl": 1500}, -1, 1500 * time.Millisecond},
		{"kafka", server{"log.retention.bytes": 61200}, 100, 0},
		{"kafka", server{"log.retention.minutes": 1, "log.retention.ms": 3000}, -1, 3 * time.Second},
		{"nats", server{"max_pending": "612KB"}, 1000, 0},
		{"nats-streaming", server{"streaming": server{"store_limits": server{"max_msgs": 100, "max_age": "1m"}}}, 100, time.Minute},
		{"nats-streaming", server{"streaming.store_limits.max_msgs": 0, "streaming.store_limits.max_age": "0s", "max_payload": 1000}, -1, 0},
		{"pulsar", server{"backlogQuotaDefaultLimitBytes": 10 << 20}, -1, 0},
		{"pulsar", server{"backlogQuotaDefaultLimitBytes": 10 << 20, "backlogQuotaDefaultRetentionPolicy": "consumer_backlog_eviction"}, (9<<20 - 128<<10) / 612, 0},
		{"pulsar", server{"ttlDurationDefaultInSeconds": 7}, -1, 7 * time.Second},
		{"artemis", server{"address-setting.max-size-messages": 5000}, -1, 0},
		{"artemis", server{"address-setting.max-size-messages": 5000, "address-setting.address-full-policy": "DROP"}, 4000, 0},
		{"artemis", server{"address-setting.default-ring-size": 10}, 10, 0},
		{"redis", server{"maxmemory": "100mb", "maxmemory-policy": "noeviction"}, -1, 0},
		{"redis-cluster", server{"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}, 0, 0},
		{"rocketmq", server{"fileReservedTime": 2}, -1, 2 * time.Hour},
		{"activemq", server{"storeUsage.limit": "1 mb"}, -1, 0},
	} {
		kind, err := driver.Lookup(c.broker)
		if err != nil || kind.ServerKeeps == nil {
			t.Fatalf("%s: %v, or the driver doesn't ask the list", c.broker, err)
		}
		got := kind.ServerKeeps(c.server, nil, 100)
		if given := got.Setting != ""; given != (c.messages >= 0) || given && got.Messages != c.messages || got.Age != c.age {
			t.Errorf("%s with %v: %+v, want %d messages and %v", c.broker, c.server, got, c.messages, c.age)
		}
	}
	kafka, _ := driver.Lookup("kafka")
	if got := kafka.ServerKeeps(server{"log.retention.ms": 5}, server{"retention.ms": "60000"}, 100); got.Given() {
		t.Errorf("the topic's own retention takes the place of the server's: %+v", got)
	}
}

func TestTheListHasEveryBroker(t *testing.T) {
	for _, name := range driver.Names() {
		drops.By(name) // panics without an entry
	}
}
